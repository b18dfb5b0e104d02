/* launch/transport_choice.h: chooses how ranks exchange messages (by MPI or Gloo; one alone does
 * not), and how they find each other. */
#ifndef DDP_LAUNCH_TRANSPORT_CHOICE_H
#define DDP_LAUNCH_TRANSPORT_CHOICE_H

#include "launch/launcher_env.h"
#include "options/options.h"

/* Check that -ddp_backend, -ddp_rendezvous and -ddp_channels go with each other and with the
 * launcher. Fails with DDP_ERR_USAGE, also if they ask for Gloo and this build has none. */
ddp_status ddp_backend_check(const ddp_options *options, ddp_launcher launcher,
                             ddp_error *err) DDP_MUST_CHECK;

/* Open the group of all ranks (comm/group.h), with the transport that the options ask for. Call
 * once, after ddp_backend_check; the options' strings must stay valid. Blocks until all ranks have
 * called it. Fails with DDP_ERR_IO (no interface of -ddp_interface), and as ddp_group_open. */
ddp_status ddp_backend_open(ddp_group **out, const ddp_options *options, ddp_launcher launcher,
                            ddp_error *err) DDP_MUST_CHECK;

#endif
