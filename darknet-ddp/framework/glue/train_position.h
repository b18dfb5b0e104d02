/* glue/train_position.h: computes how far training has come, from Darknet's count of images
 * (net->seen).
 *
 * Darknet counts a mini-batch when its forward pass begins. So the position is that of the
 * mini-batch which began last. Before the first one it is the end of a step, and of an update.
 * The images of all ranks are counted; net->batch * net->subdivisions of them are a step. So
 * learning-rate policies, burn-in and region warm-up need to know nothing of ranks. */
#ifndef DDP_GLUE_TRAIN_POSITION_H
#define DDP_GLUE_TRAIN_POSITION_H

#include "glue/network.h"

#include <stddef.h>

typedef struct ddp_train_position {
    size_t images;    /* number of images of all ranks since the network was new */
    size_t step;      /* number of steps (batches of all ranks) whose last mini-batch has begun */
    size_t last_step; /* step at which training ends (max_batches); 0: not known */
    size_t
        learnt_step; /* number of steps that updates have learnt from: a multiple of sync_every */
    int begun;       /* number of mini-batches begun on this rank in the step after `step` */
    /* index, from 0, of the mini-batch that began last in this rank's part of the step */
    int mini_batch;
    int step_ends;       /* 1: the mini-batch that began last is the last of its step */
    int update_ends;     /* 1: the mini-batch that began last ends an update, of sync_every steps */
    size_t since_update; /* number of images of all ranks since the last update ended */
} ddp_train_position;

/* Return the position of net, whether a trainer or Darknet alone trains it. */
ddp_train_position ddp_train_position_of(const network *net);

/* Return how many mini-batches of this rank make one update of the weights. */
int ddp_train_position_mini_batches(const network *net);

#endif
