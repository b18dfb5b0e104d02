/* launch/transport_choice.h: which transport the ranks of a command take, and how they meet. */
#ifndef DDP_LAUNCH_TRANSPORT_CHOICE_H
#define DDP_LAUNCH_TRANSPORT_CHOICE_H

#include "launch/launcher_env.h"
#include "options/options.h"

/* Check that -ddp_backend, -ddp_rendezvous and -ddp_channels go with each other, and with the
 * launcher or with the variables of ranks started by hand. If they want Gloo, check that this build
 * has it; other backends are not looked for here. Fails with DDP_ERR_USAGE. */
ddp_status ddp_backend_check(const ddp_options *options, ddp_launcher launcher,
                             ddp_error *err) DDP_MUST_CHECK;

/* Open the group (comm/group.h) of host memory that the options ask for; sums of a GPU's may go
 * another way, by NCCL. Ranks that were started by hand say on standard output for whom they wait.
 */
ddp_status ddp_backend_open(ddp_group **out, const ddp_options *options, ddp_launcher launcher,
                            ddp_error *err) DDP_MUST_CHECK;

#endif
