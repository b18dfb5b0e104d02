/* layers/ema.h: the exponential moving average (EMA) of convolutions' weights, scales and biases,
 * for a cfg with ema_alpha.
 *
 * At half of max_batches the average becomes a copy of the weights. From then on it becomes
 * ema_alpha*average + (1 - ema_alpha)*weights, once in (max_batches/2 - 1000)*(1 - ema_alpha)
 * batches (1 at least). At 1000 batches before the end, the average replaces the weights, and
 * changes no more; a run of 2000 batches or fewer does not do this. */
#ifndef EMA_H
#define EMA_H
#include "darknet.h"

/* If l is a [convolutional], allocate its average, all zeros. Darknet frees it with the layer. */
void make_averages(layer *l);
/* Update the averages, or copy them to the weights, if that is due. Deferred updates of layers are
 * finished first. Call on every rank after each batch. Does nothing without ema_alpha. */
void average_weights(network *net);
/* Handler that is called on rank 0 if a file of averages cannot be written. While it runs, averages
 * and weights are exchanged: it must not use the network. Null: the run ends. */
extern void (*averages_unsaved)(const char *why);

#endif
