/* layers/inference/plan.h: a network's forward pass for predictions, on a CPU with oneDNN.
 *
 * A plan computes what network_predict computes, up to rounding. A convolution's BatchNorm is
 * folded into a copy of its weights. Bias and, where possible, activation and [shortcut] are
 * computed within the convolution (onednn/, winograd/). Images have channels last, and layers share
 * their memory. A layer that the plan does not know runs Darknet's own code, between conversions.
 * The network's weights and its training stay as they are.
 *   1. inference_open, when the weights, the batch and the size of images are those to predict with
 *   2. inference_predict for each mini-batch
 *   3. inference_close, before the network is freed or resized; weights that change want a new plan
 */
#ifndef LAYERS_INFERENCE_PLAN_H
#define LAYERS_INFERENCE_PLAN_H

#include "darknet.h"

typedef struct inference_plan inference_plan;

/* Return a plan of net as it is now. While a trainer is attached, all ranks must call this: it
 * waits for sums under way, and finishes deferred updates. Free the plan by inference_close. With
 * `bf16` 1, images and weights are bf16 numbers; sums of products, biases and layers that run
 * Darknet's code stay floats. Return NULL, with which inference_predict calls network_predict:
 * - on a GPU, without oneDNN, or without a convolution that oneDNN or Winograd's algorithm computes
 * - with bf16, on a CPU without instructions for it
 * - if a layer that the plan does not know runs in bf16 in training (bf16_runs) */
inference_plan *inference_open(network *net, int bf16);

/* Predict as network_predict does, and return the network's output. net owns the output, and the
 * next pass changes it. input: net->batch images, as Darknet has them. `plan`: a plan of net; NULL:
 * network_predict computes. */
float *inference_predict(inference_plan *plan, network *net, float *input);

/* Return how many bytes of images, weights and scratch memory plan, which is not NULL, holds. */
size_t inference_bytes(const inference_plan *plan);

/* Free a plan. NULL is allowed. */
void inference_close(inference_plan *plan);

#endif
