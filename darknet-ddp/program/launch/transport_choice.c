#include "launch/transport_choice.h"

#include "base/net_interface.h"
#include "transport/rendezvous.h"

#include <stdio.h>

static int wants_gloo(const ddp_options *o)
{
    return o->backend == DDP_BACKEND_GLOO || o->rendezvous;
}

static ddp_status check_gloo(const ddp_options *o, ddp_error *err)
{
    const char *option = o->backend == DDP_BACKEND_GLOO ? "-ddp_backend gloo" : "-ddp_rendezvous";

    if (o->rendezvous && (o->backend == DDP_BACKEND_MPI || o->backend == DDP_BACKEND_SOLO))
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-ddp_rendezvous is for -ddp_backend gloo, or nccl on GPUs, and not for %s",
                        o->backend == DDP_BACKEND_MPI ? "mpi" : "solo");
    if (o->channels > 1)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-ddp_channels %d wants ranks that MPI connects: Gloo has no communicators",
                        o->channels);
    if (!ddp_group_has("gloo"))
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%s wants Gloo, which was not there when this program was built (Debian's "
                        "package libgloo-dev, and a C++ compiler)",
                        option);
    return DDP_OK;
}

/* Does anything start ranks for this process, or has? */
static int has_ranks(const ddp_options *o, ddp_launcher launcher)
{
    return launcher.ranks > 0 || o->ranks > 0 || o->hosts || o->max_restarts > 0;
}

ddp_status ddp_backend_check(const ddp_options *options, ddp_launcher launcher, ddp_error *err)
{
    if (wants_gloo(options) && check_gloo(options, err))
        return err->code;
    if (launcher.by_hand && (options->ddp || options->rendezvous)) {
        if (launcher.ranks == 0)
            return ddp_fail(err, DDP_ERR_USAGE,
                            DDP_RANK_VARIABLE " wants a number from 0, and " DDP_RANKS_VARIABLE
                                              " one that is larger: how many ranks there are");
        if (!options->rendezvous)
            return ddp_fail(err, DDP_ERR_USAGE,
                            DDP_RANK_VARIABLE " is set: this is one of several ranks, and "
                                              "-ddp_rendezvous FILE says where they meet");
    }
    if (options->rendezvous && !has_ranks(options, launcher))
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-ddp_rendezvous is for ranks that are started one by one: each wants "
                        "its " DDP_RANK_VARIABLE " (0, 1, ...) and their " DDP_RANKS_VARIABLE
                        " in its environment");
    return DDP_OK;
}

static const char *pick(const ddp_options *o, ddp_launcher launcher)
{
    if (wants_gloo(o))
        return "gloo";
    if (o->backend == DDP_BACKEND_MPI)
        return "mpi";
    return launcher.ranks > 0 && o->backend != DDP_BACKEND_SOLO ? "mpi" : "solo";
}

ddp_status ddp_backend_open(ddp_group **out, const ddp_options *options, ddp_launcher launcher,
                            ddp_error *err)
{
    const ddp_rendezvous_config config = {.path = options->rendezvous,
                                          .rank = launcher.rank,
                                          .size = launcher.ranks,
                                          .timeout_ns = (int64_t)(options->io_timeout * 1e9)};

    if (ddp_net_interface_check(options->interface, err))
        return err->code;
    ddp_group_use_interface(options->interface);
    ddp_group_use_rendezvous(options->rendezvous ? &config : NULL);
    if (launcher.by_hand && launcher.ranks > 1) {
        printf("DDP: rank %d of %d meets the others at %s\n", launcher.rank, launcher.ranks,
               options->rendezvous);
        (void)fflush(stdout);
    }
    return ddp_group_open(out, pick(options, launcher), err);
}
