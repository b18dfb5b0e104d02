/* bench/forecast.h: predicts how long a training step takes on more hosts than there are, from the
 * times of a network's layers and a model of the network between hosts. It reads and changes
 * nothing else.
 *
 * The model: buckets are launched as backward makes their gradients final, and travel one after the
 * other. A host's line carries what leaves it. Messages and sums take CPU time from the rank that
 * computes, unless a GPU does. The update waits for each layer's buckets; deferred and late ones
 * travel during the next forward pass. The model does not cut large buckets. It knows no slower
 * ranks, no lines that others use too, and no BatchNorm that waits for all ranks. It does not tell
 * how a GPU's sums travel within a host.
 *
 * Times of layers are measured by timing/profiler.c, and kept in files by core/layer_profile.c.
 * With timing/replay.c a network's layers sleep as long, while the reducer and the messages are
 * real. So scripts/forecast.py runs up to 8 hosts of 2 ranks beside their predictions. The cost of
 * a byte comes from comm/schedule_cost.c. */
#ifndef DDP_BENCH_FORECAST_H
#define DDP_BENCH_FORECAST_H

#include "base/status.h"
#include "comm/group_schedule.h"
#include "core/launch_order.h"
#include "core/layer_profile.h"

typedef struct ddp_forecast_config {
    const ddp_layer_profile *profile;
    const ddp_bucket_plan *plan;
    ddp_launch_order order; /* order in which buckets are launched in the first step */
    int priority;     /* 1: the order may change so that buckets of first layers travel first */
    int overlap;      /* 1: buckets travel while backward computes */
    int mini_batches; /* mini-batches of a rank in a step */
    double scale;     /* factor of the profile's times: a mini-batch's images / the profile's */
    int ranks, hosts; /* at most as many hosts as ranks; ranks are spread evenly */
    double bytes_s;   /* bytes a second of a host's line, each way */
    /* bytes in which a number of a gradient travels: 4; less as bf16, fp16 or fp8 */
    double value_bytes;
    ddp_schedule schedule; /* schedule of sums of host memory */
} ddp_forecast_config;

/* Predicted seconds of a step. */
typedef struct ddp_forecast {
    double local;         /* time of a step without communication */
    double step;          /* time of a step with communication */
    double wire;          /* time of a step in which a host's line is busy */
    double cpu;           /* CPU time of a step that a rank spends on communication */
    const char *schedule; /* schedule of sums: "direct", "levels", "nccl"; "none" for one rank */
} ddp_forecast;

/* Simulate training steps on config->ranks ranks and config->hosts hosts, and write the times of
 * one to *out. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_forecast_step(ddp_forecast *out, const ddp_forecast_config *config,
                             ddp_error *err) DDP_MUST_CHECK;

#endif
