/* One training run, on all ranks through a trainer or in one process without. */
#ifndef PARITY_RUN_H
#define PARITY_RUN_H

#include "rank_sum.h"
#include "timing/hook_chain.h"
#include "trainer/trainer.h"

#include <darknet.h>
#include <stdint.h>

/* Layers 0 to layer do not run backward in the mini-batches named. -1: none. */
typedef struct skip_rule {
    int layer;
    int rank;       /* -1: on all */
    int mini_batch; /* of that rank in each batch; -1: all */
    int from;       /* the first update it holds for, from 0 */
} skip_rule;

typedef struct run {
    ddp_hook_chain passing; /* to the trainer; in the reference to nobody */
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
    int as_ranks;     /* 1, of the reference: add mini-batches up in the ranks' order */

    train_hooks hooks;
    int update;       /* the present one */
    float *gradients; /* the sums of update 0, a copy */
    rank_sum *sum;    /* with as_ranks */
    int probing;      /* 1: nothing is updated */
    double *losses;   /* of each update */
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
