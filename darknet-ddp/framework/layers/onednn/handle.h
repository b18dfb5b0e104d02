/* layers/onednn/handle.h: struct convolution and its passes. For layers/onednn/ and tests. */
#ifndef LAYERS_ONEDNN_HANDLE_H
#define LAYERS_ONEDNN_HANDLE_H
#ifdef DNNL

#include "layers/onednn/primitive.h"

#include <pthread.h>

struct convolution {
    convolution_shape shape;
    onednn_primitive forward;
    pthread_mutex_t mutex; /* guards the members backward_data to way, set after convolution_of */
    onednn_primitive backward_data, backward_weights;
    onednn_primitive product; /* matrix product for gradients of weights, in place of
                                 backward_weights; none with groups */
    convolution_way way;
    convolution *next; /* next one in the list of all convolutions; NULL: this is the last */
};

/* Make *p, the primitive of a pass of c's shape, and return 1; return 0 if oneDNN has none, or for
 * the forward pass only its slow reference. A backward pass needs c->forward. */
int onednn_make_pass(convolution *c, convolution_pass pass, onednn_primitive *p);

/* Return the primitive of a pass of c, which c owns. A backward one is made at the first call; the
 * program ends if oneDNN has none. */
const onednn_primitive *onednn_pass(convolution *c, convolution_pass pass);

/* Return the matrix product that computes gradients of weights, made at the first call; NULL if c's
 * shape has none. */
const onednn_primitive *onednn_product(convolution *c);

/* Return how many bytes of scratch memory onednn_run_product needs; 0 if c has no product. */
size_t onednn_product_scratch(convolution *c);

/* Add to `gradients` the gradients of c's weights, from x and dy, by the product that
 * onednn_product(c) returns; it must not be NULL. scratch: onednn_product_scratch(c) bytes. */
void onednn_run_product(convolution *c, const void *x, const void *dy, float *gradients,
                        void *scratch);

/* Add gradients of weights to `gradients`. way: CONVOLUTION_PRIMITIVE, or CONVOLUTION_PRODUCT if c
 * has one. scratch: convolution_scratch_bytes of CONVOLUTION_BACKWARD_WEIGHTS. */
void onednn_compute_gradients(convolution *c, convolution_way way, const void *x, const void *dy,
                              float *gradients, void *scratch);

/* Write weights ([filter][channel][row][column]) of shape s to packed, in bf16 and in `layout`, and
 * return 1. Return 0, with packed unchanged, if s is not of bf16, has groups or a window larger
 * than 3x3, or if packing.c does not know the layout. */
int onednn_pack_pairs(const convolution_shape *s, onednn_layout layout, const float *weights,
                      void *packed);

/* Add from[0..count) to `to`. The arrays must not overlap. */
void onednn_add_floats(long count, const float *from, float *to);

/* Return n, rounded up to a multiple of 64. */
static inline size_t onednn_round_up(size_t n)
{
    return (n + 63) / 64 * 64;
}

#endif
#endif
