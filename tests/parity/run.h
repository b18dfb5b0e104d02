/* One training run, on all ranks through a trainer or in one process without. */
#ifndef PARITY_RUN_H
#define PARITY_RUN_H

#include "rank_sum.h"
#include "timing/hook_chain.h"
#include "trainer/trainer.h"

#include <darknet.h>
#include <stdint.h>

/* Layers 0 to `layer` (-1: none) do not run backward in the mini-batches that the others name. */
typedef struct skip_rule {
    int layer;
    int rank;       /* -1: on all */
    int mini_batch; /* of that rank in each batch; -1: all */
    int from;       /* the first update it holds for, from 0 */
} skip_rule;

typedef struct run {
    ddp_hook_chain passing; /* passes calls on to the trainer's hooks; in the reference to none */
    network *net;
    ddp_device *device;    /* where net computes */
    ddp_param_table table; /* of net, made by run_open */
    ddp_batch batch;       /* how the trainer cut it; of the reference, too */
    int ranks;
    int updates;
    int sync_every;
    skip_rule skip;
    ddp_group *group; /* NULL: the reference */
    int defers;       /* 1: some layers' updates happen in the next forward pass */
    ddp_wire wire;    /* with as_ranks: the format to which sums are rounded, as ranks round them */
    int as_ranks;     /* 1: the reference adds mini-batches up in the ranks' order */

    train_hooks hooks;
    int update;       /* number of the present update, from 0 */
    float *gradients; /* copy of the summed gradients of update 0 */
    rank_sum *sum;    /* adds gradients up as ranks do; NULL without as_ranks */
    int probing;      /* 1: nothing is updated */
    double *losses;   /* losses of each update, summed over its batches */
    int wrong;        /* number of mistakes; each is printed */
    uint64_t hash;    /* hash of everything after the last update */
} run;

/* Open a run. The caller has set net, device, batch, ranks, updates, sync_every, skip, group,
 * defers and as_ranks. net's hooks are the trainer's, or none. */
void run_open(run *r);

/* Return the reference's gradients of update 0, added up in Darknet's own order, in a copy that the
 * caller frees. Updates nothing. */
float *run_probe(run *r);

/* Train. Images depend on their number alone. */
void run_train(run *r);

/* Free all but the network. */
void run_close(run *r);

#endif
