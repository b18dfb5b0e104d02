/* glue/train_position.h: where a run is. Everything that follows from the number of images seen
 * (net->seen) is computed here.
 *
 * Darknet counts a mini-batch when its forward pass begins. So the position is that of the
 * mini-batch which began last.
 *
 * net->seen counts the images of all ranks, and net->batch * net->subdivisions is the batch of all
 * ranks. So Darknet's learning-rate policies, burn-in and region warm-up mean the same on any
 * number of ranks. */
#ifndef DDP_GLUE_TRAIN_POSITION_H
#define DDP_GLUE_TRAIN_POSITION_H

#include "glue/network.h"

#include <stddef.h>

typedef struct ddp_train_position {
    size_t images;      /* images of all ranks since the network was new */
    size_t step;        /* steps (batches of all ranks) of which every mini-batch has begun */
    size_t last_step;   /* step at which training ends (max_batches); 0: not known */
    size_t learnt_step; /* number of the last step whose images the weights have learnt; 0: none */
    int begun;          /* mini-batches begun on this rank in the step; 0 when the last has begun */
    int mini_batch;     /* number in its step, from 0, of the mini-batch that began last */
    int step_ends;      /* 1: the mini-batch that began last ends its step */
    int update_ends;    /* 1: the mini-batch that began last ends its update, of one step or more */
    size_t since_update; /* images of all ranks since the last update ended */
} ddp_train_position;

/* Return the position of net, which a trainer trains (trainer/trainer.h) or Darknet alone. */
ddp_train_position ddp_train_position_of(const network *net);

/* Return how many mini-batches of this rank make an update of the weights. */
int ddp_train_position_mini_batches(const network *net);

#endif
