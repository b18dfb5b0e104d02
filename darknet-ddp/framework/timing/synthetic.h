/* timing/synthetic.h: random images and labels that a network can train on. */
#ifndef DDP_TIMING_SYNTHETIC_H
#define DDP_TIMING_SYNTHETIC_H

#include "glue/network.h"

#include <stdint.h>

/* Fill net->input and net->truth (NULL allowed) with one mini-batch. Image k depends on (seed,
 * first + k) alone, so that ranks and one process see the same images. Labels have the form that
 * the network's last layer reads: a class, boxes, a grid of boxes, or a mask. */
void ddp_synthetic_fill(network *net, uint64_t seed, uint64_t first);

#endif
