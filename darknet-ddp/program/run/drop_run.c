#include "run/drop_run.h"

#include "base/text.h"

void ddp_drop_run_print(FILE *out, const ddp_options *o, const ddp_trainer *t)
{
    int blocks = ddp_trainer_blocks(t);

    if (o->layer_drop == 0)
        return;
    if (blocks == 1)
        (void)fprintf(out,
                      "DDP: layer drop: 1 residual block; more and more steps leave it out, in the "
                      "end %.1f%% of them\n",
                      100 * o->layer_drop);
    else
        (void)fprintf(out,
                      "DDP: layer drop: %d residual blocks; a step leaves out more and more of "
                      "them, in the end %.1f%% on average, the last one %.1f%% of the time\n",
                      blocks, 100 * o->layer_drop * (blocks + 1) / (2.0 * blocks),
                      100 * o->layer_drop);
}

void ddp_drop_run_print_end(FILE *out, const ddp_trainer *t, const ddp_group *group, size_t steps)
{
    ddp_drop_count count = ddp_trainer_dropped(t);
    ddp_traffic sent = ddp_group_traffic(group);

    if (count.blocks == 0 || steps == 0)
        return;
    (void)fprintf(out, "DDP: layer drop: %zu of %zu blocks of all steps were left out, %.1f%%",
                  count.left_out, count.blocks,
                  100 * (double)count.left_out / (double)count.blocks);
    if (sent.bytes > 0 && ddp_group_has_schedule(group))
        (void)fprintf(out, "; rank 0 sent %.4f MB a step",
                      (double)sent.bytes / 1e6 / (double)steps);
    (void)fprintf(out, "\n");
}
