/* One training run, on all ranks through a trainer or in one process without. */
#ifndef PARITY_RUN_H
#define PARITY_RUN_H

#include "rank_sum.h"
#include "timing/hook_chain.h"
#include "trainer/trainer.h"

#include <darknet.h>
#include <stdint.h>

/* Mini-batches in which layers 0 to `layer` (-1: none) do not run backward. */
typedef struct skip_rule {
    int layer;
    int rank;       /* rank whose mini-batches are meant; -1: all ranks */
    int mini_batch; /* number of the mini-batch in each batch of the rank, from 0; -1: all */
    int from;       /* number of the first update, from 0, in which layers are skipped */
} skip_rule;

typedef struct run {
    ddp_hook_chain passing; /* leads to the trainer's hooks; in the reference run to none */
    network *net;
    ddp_device *device;    /* where net computes */
    ddp_param_table table; /* parameters of net; made by run_open */
    ddp_batch batch;       /* batch as the trainer cut it, also in the reference run */
    int ranks;
    int updates;
    int sync_every;
    skip_rule skip;
    ddp_group *group; /* ranks of the run; NULL: the reference run, of one process */
    int defers;       /* 1: some layers' updates happen in the next forward pass */
    ddp_wire wire;    /* format to which the reference run rounds sums, if as_ranks is 1 */
    int as_ranks;     /* 1: the reference run adds mini-batches up in the ranks' order */

    train_hooks hooks;
    int update;       /* number of the present update, from 0 */
    float *gradients; /* copy of the summed gradients of update 0 */
    rank_sum *sum;    /* adds gradients up as ranks do; NULL without as_ranks */
    int probing;      /* 1: passes run, but nothing is updated */
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
