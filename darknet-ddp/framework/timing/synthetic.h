/* timing/synthetic.h: makes random images and labels that a network can train on. */
#ifndef DDP_TIMING_SYNTHETIC_H
#define DDP_TIMING_SYNTHETIC_H

#include "glue/network.h"

#include <stdint.h>

/* Fill net->input, and net->truth unless it is NULL, with one mini-batch. Labels have the form that
 * net's last layer reads: a class, boxes, a grid of boxes, or a mask. Image k of the mini-batch
 * depends on seed and first + k alone, so that N ranks can have the images of one process. */
void ddp_synthetic_fill(network *net, uint64_t seed, uint64_t first);

#endif
