/* core/batch.h: how a cfg's batch is cut over ranks. A pure function.
 *
 * A Darknet step is `batch` images in `subdivisions` mini-batches, whose gradients add up. Ranks
 * take whole mini-batches, so that BatchNorm sees the same ones as in one process. */
#ifndef DDP_CORE_BATCH_H
#define DDP_CORE_BATCH_H

#include "base/status.h"
#include "core/option_names.h"

typedef enum ddp_batch_mode {
    DDP_BATCH_GLOBAL, /* the cfg's batch is cut over the ranks */
    DDP_BATCH_RANK    /* every rank takes a whole cfg batch */
} ddp_batch_mode;

typedef struct ddp_batch {
    int batch;        /* images a step, all ranks together */
    int subdivisions; /* mini-batches a step, all ranks together; divides batch */
    int per_rank;     /* mini-batches a step on each rank: subdivisions / ranks */
    int images;       /* images of a mini-batch: batch / subdivisions */
    int resplit;      /* 1: mini-batches are smaller than the cfg's, to divide by ranks */
    int time_steps;   /* time steps of a recurrent network, each counted as an image; 1: the network
                         is not recurrent. ddp_batch_split sets 1; a caller may change it */
} ddp_batch;

/* Cut batch and subdivisions, both as the cfg has them, over `ranks` ranks, at least 1.
 *
 * DDP_BATCH_GLOBAL: if subdivisions is a multiple of ranks, mini-batches stay as they are. Else
 * each is cut into the fewest equal parts that make their number a multiple of ranks.
 * DDP_BATCH_RANK: batch and subdivisions are multiplied by ranks.
 *
 * Fails with DDP_ERR_USAGE: batch or subdivisions below 1, a step of more than INT_MAX images, or
 * batch no multiple of subdivisions (Darknet drops the rest silently). In DDP_BATCH_GLOBAL also if
 * batch is no multiple of ranks. If batch is no multiple, the text has the nearest values that
 * work. names: names of options for the text; NULL: plain words. On failure *out is all 0. */
ddp_status ddp_batch_split(ddp_batch *out, int batch, int subdivisions, int ranks,
                           ddp_batch_mode mode, const ddp_option_names *names,
                           ddp_error *err) DDP_MUST_CHECK;

/* A run that wants the same bits on any number of ranks, for ddp_exact_check. */
typedef struct ddp_exact_run {
    int batch, subdivisions; /* batch and subdivisions of the cfg */
    int ranks;
    ddp_batch_mode mode;
    int sync_every;        /* batches that make an update */
    int broadcast_buffers; /* 1: ranks share BatchNorm's statistics after each step; 0: never */
    const ddp_option_names *names; /* names of options for errors; NULL: plain words */
} ddp_exact_run;

/* Fail with DDP_ERR_USAGE if run cannot have the same bits at any number of ranks
 * (core/tree_sum.h). A run can if subdivisions and ranks are powers of two, ranks at most
 * subdivisions, and batch a multiple of subdivisions. Also needed: DDP_BATCH_GLOBAL, sync_every 1
 * and broadcast_buffers 1. The text has the values that work. A batch or subdivisions below 1
 * passes here, and ddp_batch_split refuses it. All else that passes here passes ddp_batch_split,
 * too. */
ddp_status ddp_exact_check(const ddp_exact_run *run, ddp_error *err) DDP_MUST_CHECK;

#endif
