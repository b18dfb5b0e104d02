#include "trainer/trainer_state.h"

#include "base/clock.h"

/* BatchNorm over all ranks: in its forward and backward pass, each rank waits for the others. */

/* Whoever is waited for has not come here. */
static int64_t begin_to_join(const ddp_trainer *t)
{
    ddp_watch_wait(t->config.reducer.watch, -1);
    return ddp_clock_ns();
}

static void end_to_join(ddp_trainer *t, int64_t began_ns)
{
    t->waited_ns += ddp_clock_ns() - began_ns;
    ddp_watch_layer(t->config.reducer.watch,
                    t->phase == DDP_TRAINER_BACKWARD ? DDP_PHASE_BACKWARD : DDP_PHASE_FORWARD,
                    t->layer);
}

static void settle_before_joining(void *ctx)
{
    ddp_trainer_wait_for_sums(ctx);
}

static void join(void *ctx, int channels, float count, float *means, float *squares)
{
    ddp_trainer *t = ctx;
    int64_t began_ns = begin_to_join(t);
    ddp_error err;

    ddp_trainer_check(t,
                      ddp_sync_batchnorm_join(t->sync_batchnorm, (size_t)channels, (double)count,
                                              means, squares, &err),
                      &err);
    end_to_join(t, began_ns);
}

static void average(void *ctx, int channels, float *a, float *b)
{
    ddp_trainer *t = ctx;
    int64_t began_ns = begin_to_join(t);
    ddp_error err;

    ddp_trainer_check(
        t, ddp_sync_batchnorm_average(t->sync_batchnorm, (size_t)channels, a, b, &err), &err);
    end_to_join(t, began_ns);
}

ddp_status ddp_trainer_join_batch_norm(ddp_trainer *t, network *net, ddp_error *err)
{
    if (!t->config.sync_bn || ddp_group_size(t->group) == 1)
        return DDP_OK;
    t->joint = (joint_statistics){
        .ctx = t, .settle = settle_before_joining, .join = join, .average = average};
    net->statistics = &t->joint;
    return ddp_sync_batchnorm_open(&t->sync_batchnorm, t->group, err);
}
