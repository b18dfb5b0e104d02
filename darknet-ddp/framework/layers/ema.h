#ifndef EMA_H
#define EMA_H
#include "darknet.h"

/*
 * The average of a network's weights, where the cfg has ema_alpha. It begins with the weights at
 * half of max_batches. From then on it takes a fraction 1 - ema_alpha of them in every so many
 * batches. The weights become the average 1000 batches before the end, but not in a run of 2000
 * batches or fewer.
 */

/* Room for a convolution's, zero at first. */
void make_averages(layer *l);
/* To be called after each batch. */
void average_weights(network *net);
/* Hears why an average cannot be saved, and the run goes on. 0: it ends. */
extern void (*averages_unsaved)(const char *why);

#endif
