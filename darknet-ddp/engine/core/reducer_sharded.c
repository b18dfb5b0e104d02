#include "comm/group_gpu.h"
#include "comm/work.h"
#include "core/reducer_state.h"

#include "base/clock.h"

#include <stdlib.h>

/* The next forward pass needs the first layers first, and the plan's last bucket has these. */
static size_t nth_sent(const ddp_reducer *r, size_t n)
{
    return r->plan->bucket_count - 1 - n;
}

/* A piece is a bucket. */
static ddp_work *sum_of(const ddp_reducer *r, size_t bucket)
{
    return r->sums[bucket];
}

/* ---- opening ---- */

ddp_status ddp_reducer_open_sharded(ddp_reducer *r, ddp_error *err)
{
    size_t layers = (size_t)r->table->layer_count;

    r->ran_ranks = calloc(layers + 1, sizeof *r->ran_ranks);
    if (!r->ran_ranks)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a reducer of %zu layers", layers);
    return ddp_allreduce_open(&r->ran_sum, r->group, r->ran_ranks, layers, err);
}

/* A pass whose update never came, as a bench's, leaves its count of ranks on the way. */
void ddp_reducer_close_sharded(ddp_reducer *r)
{
    ddp_error ignored;
    ddp_status st = r->ran_started ? ddp_work_wait(r->ran_sum, &ignored) : DDP_OK;

    (void)st; /* a group that has failed has told why */
    ddp_work_close(r->ran_sum);
    free(r->ran_ranks);
}

/* ---- who ran what ---- */

static ddp_status wait_for_ranks(const ddp_reducer *r, ddp_error *err)
{
    if (ddp_work_wait(r->ran_sum, err))
        return ddp_wrap(err, "which layers ran");
    return DDP_OK;
}

ddp_status ddp_reducer_count_ranks(ddp_reducer *r, ddp_error *err)
{
    if (r->ran_started && wait_for_ranks(r, err)) /* nobody has asked for the last one */
        return err->code;
    r->ran_started = 1;
    for (int layer = 0; layer < r->table->layer_count; layer++)
        r->ran_ranks[layer] = r->ran[layer] ? 1.0F : 0.0F;
    if (ddp_work_start(r->ran_sum, err))
        return ddp_wrap(err, "which layers ran");
    return DDP_OK;
}

ddp_status ddp_reducer_ranks_of(const ddp_reducer *r, int layer, float *count, ddp_error *err)
{
    if (wait_for_ranks(r, err))
        return err->code;
    *count = r->ran_ranks[layer];
    return DDP_OK;
}

/* ---- what was updated ---- */

ddp_status ddp_reducer_send_updated(ddp_reducer *r, void (*publish)(const void *ctx, size_t bucket),
                                    const void *ctx, ddp_error *err)
{
    int64_t start = ddp_clock_ns();
    ddp_status st = wait_for_ranks(r, err);

    if (!st) /* what is published depends on whether a GPU's sums are finite */
        st = ddp_group_synchronize(r->group, err);
    r->total.wait_ns += ddp_clock_ns() - start;
    start = ddp_clock_ns();
    for (; r->sent < r->plan->bucket_count && !st; r->sent++) {
        size_t b = nth_sent(r, r->sent);

        if (ddp_reducer_is_bucket_dropped(r, b))
            continue;
        publish(ctx, b);
        if (ddp_work_start_phase(sum_of(r, b), DDP_ALL_GATHER, err))
            st = ddp_reducer_wrap_error(r, b, err);
        ddp_watch_record(r->config.watch, DDP_EVENT_LAUNCH, (int)b);
    }
    r->total.drive_ns += ddp_clock_ns() - start;
    return st;
}

static ddp_status receive_next(ddp_reducer *r, ddp_error *err)
{
    size_t b = nth_sent(r, r->received);

    if (ddp_reducer_is_bucket_dropped(r, b)) {
        r->received++;
        return DDP_OK;
    }
    ddp_watch_wait(r->config.watch, (int)b);
    if (ddp_work_wait(sum_of(r, b), err)) {
        ddp_reducer_wrap_error(r, b, err);
        return ddp_wrap(err, "updated parameters");
    }
    ddp_watch_record(r->config.watch, DDP_EVENT_LAND, (int)b);
    r->received++;
    return DDP_OK;
}

static ddp_status receive_buckets(ddp_reducer *r, int layer, ddp_error *err)
{
    for (size_t i = r->first_param[layer]; i < r->first_param[layer + 1]; i++)
        while (r->received + r->plan->places[i].bucket < r->plan->bucket_count)
            if (receive_next(r, err))
                return err->code;
    return DDP_OK;
}

ddp_status ddp_reducer_receive_updated(ddp_reducer *r, int layer,
                                       void (*take)(const void *ctx, size_t param), const void *ctx,
                                       ddp_error *err)
{
    int64_t start = ddp_clock_ns();
    ddp_status st;

    if (!ddp_reducer_trains(r, layer))
        return DDP_OK;
    st = receive_buckets(r, layer, err);
    r->total.wait_ns += ddp_clock_ns() - start;
    for (size_t i = r->first_param[layer]; i < r->first_param[layer + 1] && !st; i++)
        if (!ddp_reducer_is_bucket_dropped(r, r->plan->places[i].bucket))
            take(ctx, i);
    return st;
}

int ddp_reducer_received_finite(const ddp_reducer *r, size_t *bucket)
{
    for (size_t n = 0; n < r->received; n++) {
        *bucket = nth_sent(r, n);
        if (!ddp_reducer_is_bucket_dropped(r, *bucket) && !ddp_work_finite(sum_of(r, *bucket)))
            return 0;
    }
    return 1;
}
