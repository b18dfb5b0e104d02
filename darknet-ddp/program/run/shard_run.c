#include "run/shard_run.h"

void ddp_shard_run_print(FILE *out, const ddp_options *o, const ddp_trainer *t)
{
    const ddp_shard *shard = ddp_reducer_shard(ddp_trainer_reducer(t));
    ddp_shard_size size;

    if (!shard) {
        if (o->shard_optimizer)
            (void)fprintf(out, "DDP: one rank has no one to share the optimizer's state with\n");
        return;
    }
    size = ddp_shard_bytes(shard);
    (void)fprintf(out, "DDP: optimizer's state is shared out: %.1f MB of %.1f MB on rank 0\n",
                  (double)size.own / 1e6, (double)size.all / 1e6);
}
