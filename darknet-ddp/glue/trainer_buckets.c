/* Other buckets for a network that trains. */
#include "glue/trainer_state.h"

static ddp_status reopen(ddp_trainer *t, ddp_chunks chunks, ddp_error *err)
{
    ddp_reducer_times times;
    ddp_status st;

    ddp_trainer_settle(t);
    times = ddp_reducer_total_times(t->reducer);
    t->waited_ns += times.wait_ns + times.drive_ns;
    ddp_reducer_close(t->reducer);
    t->reducer = NULL;
    t->backlog_told = 0;
    st = ddp_loss_finish(t->loss, err);
    if (!st)
        st = ddp_group_use_chunks(t->group, chunks, err);
    if (!st)
        st = ddp_reducer_open(&t->reducer, t->group, &t->table, &t->config.reducer, err);
    if (!st)
        t->guard = ddp_guard_open(&t->config.guard, t->group, &t->table, t->reducer, t->loss,
                                  t->statistics);
    return st;
}

ddp_status ddp_trainer_use_buckets(ddp_trainer *t, const ddp_bucketing *buckets, ddp_error *err)
{
    t->config.reducer.bucket_bytes = buckets->bucket_bytes;
    t->config.reducer.first_bucket_bytes = buckets->first_bucket_bytes;
    t->config.reducer.defer_bytes = buckets->defer_bytes;
    t->config.reducer.piece_bytes = buckets->piece_bytes;
    t->config.reducer.priority = buckets->priority;
    return t->net ? reopen(t, buckets->chunks, err)
                  : ddp_group_use_chunks(t->group, buckets->chunks, err);
}
