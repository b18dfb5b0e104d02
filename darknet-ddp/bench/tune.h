/* bench/tune.h: which buckets, and chunks of their sums, suit a network and a line: what is worth a
 * trial, and what a trial says. Pure functions.
 */
#ifndef DDP_BENCH_TUNE_H
#define DDP_BENCH_TUNE_H

#include "bench/predict.h"
#include "core/params.h"

typedef struct ddp_tuning {
    double bucket_mb, first_bucket_mb, defer_mb;
    int priority;
    ddp_chunks chunks; /* a wish (ddp_group_use_chunks) */
} ddp_tuning;

typedef struct ddp_tune_config {
    ddp_predict_config predict; /* but plan, order and priority */
    const ddp_table *table;
    ddp_tuning as_is;
    /* Which of them must stay as they are. */
    int keep_bucket, keep_first_bucket, keep_defer, keep_priority;
} ddp_tune_config;

/* How many are tried beside what is, buckets and then chunks; and each so often. */
enum { DDP_TUNE_TRIED = 3, DDP_TUNE_CHUNKS_TRIED = 4, DDP_TUNE_ROUNDS = 3 };

/* What is faster must be so by this much: more than the spread of a median, and worth a line. */
#define DDP_TUNE_MARGIN 0.03

/* tried[0..*count), at most DDP_TUNE_TRIED: those that a step is predicted to be fastest with, the
 * best first, each a hundredth faster than with as_is. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_tune_candidates(ddp_tuning *tried, size_t *count, const ddp_tune_config *config,
                               ddp_error *err) DDP_MUST_CHECK;

/* tried[0..count), at most DDP_TUNE_CHUNKS_TRIED; count is returned: as_is with chunks half and
 * twice as long, as many bytes in flight, and then with half and twice as many in flight, where the
 * limits allow it. None of them is predicted: a step's model knows no chunks. */
size_t ddp_tune_chunks(ddp_tuning *tried, const ddp_tuning *as_is, const ddp_chunk_limits *limits);

/* Seconds of a step with each of `count`, of which 0 is as_is, in each round. Returns which one to
 * take: not another than 0 unless its median is faster by DDP_TUNE_MARGIN, and it was faster in
 * every round. median_s: of each. */
size_t ddp_tune_choose(double (*seconds)[DDP_TUNE_ROUNDS], size_t count, double *median_s);

/* The middle one of them, which change their order; 0 where there is none. */
double ddp_tune_median(double *seconds, size_t count);

#endif
