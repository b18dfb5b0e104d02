/* layers/onednn/handle.h: struct convolution and its passes. For layers/onednn/ and tests. */
#ifndef LAYERS_ONEDNN_HANDLE_H
#define LAYERS_ONEDNN_HANDLE_H
#ifdef DNNL

#include "layers/onednn/primitive.h"

#include <pthread.h>

struct convolution {
    convolution_shape shape;
    onednn_primitive forward;
    pthread_mutex_t mutex; /* guards the next four members, which are made when they are needed */
    onednn_primitive backward_data, backward_weights;
    int has_turned;         /* 1: the next member is set */
    convolution *turned[2]; /* handles whose forward pass computes dx, and which adds to dx; NULL:
                               the pass backward_data does */
    convolution *next;      /* next one in the list of all convolutions; NULL: this is the last */
};

/* Make *p, the primitive of a pass of c's shape, and return 1; return 0 if oneDNN has none, or for
 * the forward pass only its slow reference. A backward pass needs c->forward. */
int onednn_make_pass(convolution *c, convolution_pass pass, onednn_primitive *p);

/* Return the primitive of a pass of c, which c owns. A backward one is made at the first call; the
 * program ends if oneDNN has none. */
const onednn_primitive *onednn_pass(convolution *c, convolution_pass pass);

/* Write weights ([filter][channel][row][column]) of shape s to packed, in bf16 and in `layout`, and
 * return 1. For floats, groups, a window larger than 3x3, or an unknown layout return 0, with
 * packed unchanged. is_turned: in the layout, filters are called channels, and channels filters. */
int onednn_pack_pairs(const convolution_shape *s, onednn_layout layout, int is_turned,
                      const float *weights, void *packed);

/* Return n, rounded up to a multiple of 64. */
static inline size_t onednn_round_up(size_t n)
{
    return (n + 63) / 64 * 64;
}

#endif
#endif
