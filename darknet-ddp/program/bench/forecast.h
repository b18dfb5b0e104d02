/* bench/forecast.h: predicts how long a training step would take on many hosts. It computes that
 * from the measured times of the layers (core/layer_profile.h) and a model of the communication; it
 * runs nothing.
 *
 * The model: a bucket's allreduce starts when backward has computed its gradients. Without overlap,
 * or if the bucket is late or deferred (core/launch_order.h), it starts when backward has ended.
 * Buckets travel one after the other. A host's network line carries what leaves the host. Messages
 * and sums take CPU time from a rank, unless a GPU computes. A layer's update waits for its
 * buckets, in the next forward pass if late or deferred. The model leaves out: cuts of large
 * buckets, slower ranks, other programs on a line, -ddp_sync_bn, a GPU's sums within a host.
 *
 * timing/profiler.c measures the times, comm/schedule_cost.c computes what a byte costs.
 * scripts/forecast.py compares predictions with runs whose layers only sleep (timing/replay.c). */
#ifndef DDP_BENCH_FORECAST_H
#define DDP_BENCH_FORECAST_H

#include "base/status.h"
#include "comm/group_schedule.h"
#include "core/launch_order.h"
#include "core/layer_profile.h"

typedef struct ddp_forecast_config {
    const ddp_layer_profile *profile; /* measured times of the layers */
    const ddp_bucket_plan *plan;
    ddp_launch_order order; /* order in which buckets are launched in the first step */
    int priority;       /* 1: the order may change so that buckets of first layers travel first */
    int overlap;        /* 1: buckets travel while backward computes */
    int mini_batches;   /* mini-batches of a rank in a step */
    double scale;       /* a mini-batch's images / the profile's: passes take so much longer */
    int ranks, hosts;   /* at most as many hosts as ranks; ranks are spread evenly */
    double bytes_s;     /* bytes a second of a host's line, each way */
    double value_bytes; /* bytes of a gradient's number on the wire: 4; bf16, fp16 and fp8: less */
    ddp_schedule schedule; /* way in which sums of host memory travel */
} ddp_forecast_config;

/* Predicted seconds of a step. */
typedef struct ddp_forecast {
    double local; /* time without communication */
    double step;  /* time with communication */
    double wire;  /* time in which a host's line is busy */
    double cpu;   /* CPU time that a rank spends on communication */
    /* way in which sums travel: "direct", "levels", "nccl"; "none": one rank */
    const char *schedule;
} ddp_forecast;

/* Simulate training steps on config->ranks ranks and config->hosts hosts, and write the times of
 * one to *out. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_forecast_step(ddp_forecast *out, const ddp_forecast_config *config,
                             ddp_error *err) DDP_MUST_CHECK;

#endif
