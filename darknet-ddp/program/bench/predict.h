/* bench/predict.h: how long a training step takes on more hosts than there are, from the times of
 * a network's layers and a model of the network between hosts. A pure function.
 *
 * What is modelled: buckets are launched as backward makes their gradients final and travel one
 * after the other; a host's line carries what leaves it; messages and sums take CPU time from the
 * rank that computes, unless a GPU does; the update waits for each layer's buckets; deferred ones
 * and late ones travel during the next forward pass. What is not: large buckets in pieces, ranks
 * that are slower than others, lines that others use too, how a GPU's sums travel within a host,
 * and BatchNorm that waits for all ranks.
 *
 * core/layer_profile.c reads and writes how long each layer computes. timing/profiler.c measures it
 * by hooks of its own; timing/replay.c puts functions into the layers of a network that sleep as
 * long, so that the reducer and the messages below are the real ones; bench/predict.c simulates a
 * rank and a host's line, bucket by bucket, with what comm/schedule_cost.c knows of the cost of a
 * byte. scripts/forecast.py runs up to 8 hosts of 2 ranks and prints what was predicted beside it;
 * scripts/figures.py draws both, and the other figures of Li et al.'s evaluation, from runs on this
 * machine.
 */
#ifndef DDP_BENCH_PREDICT_H
#define DDP_BENCH_PREDICT_H

#include "base/status.h"
#include "comm/group_schedule.h"
#include "core/launch_order.h"
#include "core/layer_profile.h"

typedef struct ddp_predict_config {
    const ddp_layer_profile *profile;
    const ddp_bucket_plan *plan;
    ddp_launch_order order; /* at first */
    int priority;           /* as the reducer's: some buckets become late */
    int overlap;
    int mini_batches;      /* of a rank in a step */
    double scale;          /* of the profile's times: images of a mini-batch to the profile's */
    int ranks, hosts;      /* hosts at most ranks; ranks as even over them as can be */
    double bytes_s;        /* of a host's line, each way */
    double value_bytes;    /* of a gradient on it: 4, or 2 where it is compressed */
    ddp_schedule schedule; /* of sums of host memory */
} ddp_predict_config;

/* Seconds of a step. */
typedef struct ddp_prediction {
    double local;         /* without communication */
    double step;          /* with it */
    double wire;          /* that a host's line is busy */
    double cpu;           /* of a rank, for communication */
    const char *schedule; /* of sums: "direct", "levels", "nccl" */
} ddp_prediction;

/* Fails with DDP_ERR_NOMEM. */
ddp_status ddp_predict(ddp_prediction *out, const ddp_predict_config *config,
                       ddp_error *err) DDP_MUST_CHECK;

#endif
