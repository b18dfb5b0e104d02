/* layers/ema.h: the moving average of convolutions' weights, scales and biases, for a cfg with
 * ema_alpha. At half of max_batches the average becomes a copy of them. From then on it becomes
 * ema_alpha*average + (1 - ema_alpha)*weights, once a period (ema.c: period_of). At 1000 batches
 * before the end the weights become the average, which changes no more. This last step is left out
 * in a run of 2000 batches or fewer. */
#ifndef EMA_H
#define EMA_H
#include "darknet.h"

/* Make the arrays of layer l's average, all zeros; does nothing if l is no [convolutional]. Darknet
 * frees them with the layer. */
void make_averages(layer *l);
/* Update the averages, or copy them to the weights, if that is due at the batch that has just
 * ended. Does nothing without ema_alpha. Call on every rank after each mini-batch. If something is
 * due, layers that wait for their update get it first. */
void average_weights(network *net);
/* Called on rank 0 with the reason if the file of averages cannot be written. Null: the run then
 * ends. */
extern void (*averages_unsaved)(const char *why);

#endif
