/* core/batch.h: how many images and mini-batches each rank takes in a step, and whether a run
 * can have the same bits on 1, 2, 4, ... ranks. Pure functions.
 *
 * A step of Darknet has `batch` images in `subdivisions` mini-batches, whose gradients add up. A
 * rank takes mini-batches whole, as one process does, so BatchNorm sees the same ones. They are cut
 * only if their number is no multiple of the number of ranks. */
#ifndef DDP_CORE_BATCH_H
#define DDP_CORE_BATCH_H

#include "base/status.h"
#include "core/option_names.h"

typedef enum ddp_batch_mode {
    DDP_BATCH_GLOBAL, /* the cfg's batch is that of all ranks together */
    DDP_BATCH_RANK    /* the cfg's batch is that of each rank */
} ddp_batch_mode;

typedef struct ddp_batch {
    int batch;        /* images in a step of all ranks together */
    int subdivisions; /* mini-batches in a step of all ranks together */
    int per_rank;     /* mini-batches in a step of each rank: subdivisions / ranks */
    int images;       /* images in a mini-batch: batch / subdivisions */
    int resplit;      /* 1: the cfg's mini-batches were cut, so that all ranks have equally many */
    int time_steps;   /* 1, or time steps of a recurrent network: its steps have batch * time_steps
                         images. ddp_batch_split sets 1; a caller may change it */
} ddp_batch;

/* Divide a step among `ranks` ranks, at least 1. batch and subdivisions are the cfg's. names: names
 * of options for errors; NULL: plain words.
 *   DDP_BATCH_GLOBAL  if subdivisions is no multiple of ranks, cut each mini-batch into equal
 *                     parts, as few as make the number of mini-batches a multiple
 *   DDP_BATCH_RANK    multiply batch and subdivisions by ranks
 *
 * Fails with DDP_ERR_USAGE, and *out is then all 0, if:
 *   - batch or subdivisions is below 1
 *   - batch is no multiple of subdivisions
 *   - with DDP_BATCH_GLOBAL, batch is no multiple of ranks
 *   - with DDP_BATCH_RANK, a step has more than INT_MAX images */
ddp_status ddp_batch_split(ddp_batch *out, int batch, int subdivisions, int ranks,
                           ddp_batch_mode mode, const ddp_option_names *names,
                           ddp_error *err) DDP_MUST_CHECK;

/* The settings of a run that ddp_exact_check looks at. */
typedef struct ddp_exact_run {
    int batch, subdivisions; /* batch and subdivisions of the cfg */
    int ranks;
    ddp_batch_mode mode;
    int sync_every;        /* how many batches make an update, from 1 */
    int broadcast_buffers; /* 1: ranks get the same BatchNorm statistics each step; 0: never */
    const ddp_option_names *names; /* names of options for errors; NULL: plain words */
} ddp_exact_run;

/* Fail with DDP_ERR_USAGE if a run cannot have the same bits on 1, 2, 4, ... ranks
 * (core/tree_sum.h). The text advises values that work. All of this is needed:
 *   - subdivisions and ranks are powers of two
 *   - ranks is at most subdivisions
 *   - batch is a multiple of subdivisions
 *   - mode is DDP_BATCH_GLOBAL, sync_every 1, broadcast_buffers 1
 * A batch or subdivisions below 1 passes here: ddp_batch_split refuses it. */
ddp_status ddp_exact_check(const ddp_exact_run *run, ddp_error *err) DDP_MUST_CHECK;

#endif
