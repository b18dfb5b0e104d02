/* launch/transport_choice.h: chooses the transport of a command's ranks, and how they meet. */
#ifndef DDP_LAUNCH_TRANSPORT_CHOICE_H
#define DDP_LAUNCH_TRANSPORT_CHOICE_H

#include "launch/launcher_env.h"
#include "options/options.h"

/* Check that -ddp_backend, -ddp_rendezvous and -ddp_channels go with each other, and with the
 * launcher or with the variables of ranks started by hand. If they want Gloo, check that this build
 * has it; other backends are not looked for here. Fails with DDP_ERR_USAGE. */
ddp_status ddp_backend_check(const ddp_options *options, ddp_launcher launcher,
                             ddp_error *err) DDP_MUST_CHECK;

/* Open the group (comm/group.h) that the options ask for; it sums host memory; NCCL may sum a
 * GPU's. Ranks that were started by hand print where they meet. Blocks and fails as ddp_group_open;
 * fails also with DDP_ERR_USAGE (-ddp_interface). */
ddp_status ddp_backend_open(ddp_group **out, const ddp_options *options, ddp_launcher launcher,
                            ddp_error *err) DDP_MUST_CHECK;

#endif
