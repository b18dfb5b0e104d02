/* bench/predict.h: a prediction of how long a training step takes on more hosts than there are. It
 * is made from the times of a network's layers and a model of the network between hosts. A pure
 * function.
 *
 * The model: buckets are launched as backward makes their gradients final, and travel one after the
 * other. A host's line carries what leaves it. Messages and sums take CPU time from the rank that
 * computes, unless a GPU does. The update waits for each layer's buckets; deferred and late ones
 * travel during the next forward pass. The model has no large buckets in pieces, no ranks that are
 * slower than others, and no lines that others use too. It has no BatchNorm that waits for all
 * ranks, and does not tell how a GPU's sums travel within a host.
 *
 * The times of layers are read and written by core/layer_profile.c, and measured by
 * timing/profiler.c, with hooks of its own. In timing/replay.c, a network's layers sleep as long,
 * so that the reducer and the messages below are the real ones. The prediction simulates a rank and
 * a host's line, bucket by bucket, with the cost of a byte from comm/schedule_cost.c. With
 * scripts/forecast.py up to 8 hosts of 2 ranks run beside their predictions. Both are plotted by
 * scripts/figures.py, as are the other figures of Li et al.'s evaluation, from runs on this
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
    int priority;           /* 1: some buckets become late, as by the reducer's priority */
    int overlap;
    int mini_batches; /* mini-batches of a rank in a step */
    double scale; /* factor of the profile's times: images of a mini-batch / those of the profile */
    int ranks, hosts;      /* at most as many hosts as ranks; ranks are spread evenly */
    double bytes_s;        /* bytes a second of a host's line, each way */
    double value_bytes;    /* bytes of a gradient on the line: 4, or 2 if it is compressed */
    ddp_schedule schedule; /* schedule of sums of host memory */
} ddp_predict_config;

/* Seconds of a step. */
typedef struct ddp_prediction {
    double local;         /* without communication */
    double step;          /* with communication */
    double wire;          /* in which a host's line is busy */
    double cpu;           /* CPU time of a rank for communication */
    const char *schedule; /* schedule of sums: "direct", "levels", "nccl"; "none" for one rank */
} ddp_prediction;

/* Simulate training steps on config->hosts hosts. Writes to *out how many seconds one takes, with
 * and without communication. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_predict(ddp_prediction *out, const ddp_predict_config *config,
                       ddp_error *err) DDP_MUST_CHECK;

#endif
