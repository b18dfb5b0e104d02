/* glue/position.h: where a run is. */
#ifndef DDP_GLUE_POSITION_H
#define DDP_GLUE_POSITION_H

#include "glue/network.h"

#include <stddef.h>

typedef struct ddp_position {
    size_t images;    /* that all ranks have trained on, since the network was new */
    size_t step;      /* batches that these make, rounded down */
    size_t last_step; /* of the training; 0: not known */
    int learnt;       /* the weights have learnt from all of these images */
} ddp_position;

/* Of a network that is attached to a trainer (glue/trainer.h). */
ddp_position ddp_position_of(const network *net);

#endif
