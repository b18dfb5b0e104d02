/* core/batch.h: how a cfg's batch is cut over ranks. A pure function.
 *
 * A Darknet step is `batch` images in `subdivisions` mini-batches, whose
 * gradients add up. Ranks take whole mini-batches, so that BatchNorm sees the
 * same ones as in one process.
 */
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
    int resplit;      /* not 0: mini-batches are smaller than the cfg's */
    int time_steps; /* steps of a recurrent network: each counts as an image; ddp_batch_split sets 1
                     */
} ddp_batch;

/* Cut batch and subdivisions, both as the cfg has them, over `ranks` ranks.
 *
 * DDP_BATCH_GLOBAL: if subdivisions is a multiple of ranks the mini-batches stay
 * as they are. If not, each is cut further, into the fewest equal parts with
 * which their number becomes one. DDP_BATCH_RANK: batch and subdivisions are
 * multiplied by ranks.
 *
 * Fails with DDP_ERR_USAGE: batch or subdivisions below 1, or a step of more than INT_MAX images.
 * Also if batch is not a multiple of subdivisions (Darknet drops the rest silently) or, in
 * DDP_BATCH_GLOBAL, of ranks. The text has the nearest values that work. names are the text's;
 * NULL: plain words. */
ddp_status ddp_batch_split(ddp_batch *out, int batch, int subdivisions, int ranks,
                           ddp_batch_mode mode, const ddp_option_names *names,
                           ddp_error *err) DDP_MUST_CHECK;

/* A run that may be summed in one binary tree over the mini-batches of a step. */
typedef struct ddp_exact_run {
    int batch, subdivisions; /* the cfg's */
    int ranks;
    ddp_batch_mode mode;
    int sync_every;
    int broadcast_buffers;         /* the trainer's: statistics are shared at every step */
    const ddp_option_names *names; /* for errors; NULL: plain words */
} ddp_exact_run;

/* Can this run have the same bits at any number of ranks (core/tree_sum.h)? Subdivisions and
 * ranks must be powers of two, ranks no more than subdivisions, and batch a multiple of them. What
 * is accepted ddp_batch_split accepts too, but for numbers below 1.
 * DDP_ERR_USAGE: no; the text has the values that work, with whatever else must change. */
ddp_status ddp_exact_check(const ddp_exact_run *run, ddp_error *err) DDP_MUST_CHECK;

#endif
