/* glue/train_position.h: where a run is. All that follows from how many images were seen is
 * computed here.
 *
 * Darknet counts the images of a mini-batch, on all ranks, when its forward pass begins. So between
 * a forward pass's begin and the next one's, the position is that of the mini-batch which began
 * last.
 *
 * seen counts the images of all ranks (net->world times the mini-batch; what follows from it is
 * computed in glue/train_position.c), net->batch * net->subdivisions is the global batch, so
 * Darknet's learning-rate policies, burn-in and region warm-up mean the same at any number of
 * ranks.
 */
#ifndef DDP_GLUE_TRAIN_POSITION_H
#define DDP_GLUE_TRAIN_POSITION_H

#include "glue/network.h"

#include <stddef.h>

typedef struct ddp_train_position {
    size_t images;       /* of all ranks, since the network was new */
    size_t step;         /* whole steps that these make: each a batch */
    size_t last_step;    /* of the training; 0: not known */
    size_t learnt_step;  /* of these steps, those that the weights have learnt from */
    int begun;           /* of the step under way, this rank's mini-batches; 0 between two steps */
    int mini_batch;      /* of its step on this rank, from 0: the one that began last */
    int step_ends;       /* it is the last of its step */
    int update_ends;     /* it is the last of its update: all images are learnt from then */
    size_t since_update; /* images since the last update's end */
} ddp_train_position;

/* Of a network that is attached to a trainer (trainer/trainer.h), or alone. */
ddp_train_position ddp_train_position_of(const network *net);

/* How many mini-batches of this rank make an update. */
int ddp_train_position_mini_batches(const network *net);

#endif
