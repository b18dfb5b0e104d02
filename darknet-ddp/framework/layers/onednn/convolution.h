/* layers/onednn/convolution.h: convolutions of NHWC images by oneDNN, in float32 or bf16.
 *
 * A `convolution` belongs to a shape, and is made once for each shape of a process (cache.c). It
 * keeps no pointer of a caller's, and several threads may use it at a time. Order of calls:
 *   1. convolution_of: the handle of a shape;
 *   2. convolution_pack: weights as floats, as Darknet has them, to the layout that a pass reads;
 *   3. convolution_forward, convolution_backward_data, convolution_backward_weights.
 * Images x, y and their gradients dx, dy are NHWC: image, row, column, channel, without gaps;
 * floats, or with bf16 the upper halves of floats (unsigned short). A failure of oneDNN ends the
 * program. A build without oneDNN has convolution_of, which returns NULL, the three
 * convolution_has_..., which return 0, and the sizes of y; the other functions do not exist.
 *
 * y and dx have the same bits for any number of images and threads. The gradients of weights need
 * not. layers/gradients/ computes those of bf16 images sooner, but not with groups. */
#ifndef LAYERS_ONEDNN_CONVOLUTION_H
#define LAYERS_ONEDNN_CONVOLUTION_H

#include "activations.h"

#include <stddef.h>

/* When the forward pass adds the values that y held: never, AFTER the activation, or BEFORE it. */
typedef enum {
    CONVOLUTION_SUM_NONE,
    CONVOLUTION_SUM_AFTER,
    CONVOLUTION_SUM_BEFORE
} convolution_sum;

/* A convolution's sizes and type. Clear it before you fill it. Always set activation, too: LINEAR
 * (none) is not 0. */
typedef struct {
    int images; /* images that one call computes: a batch or a slice of it */
    int channels, height, width, filters;
    int size; /* rows and columns of a filter */
    int stride_x, stride_y;
    int pad;              /* rows and columns of zeros at each side of an image */
    int dilation, groups; /* both 1 for a plain convolution */
    int bf16;             /* 1: x, y, dx, dy are bf16; 0: floats */
    /* ---- for convolution_forward; for its backward passes 0, LINEAR, CONVOLUTION_SUM_NONE ---- */
    int has_bias;          /* 1: a bias is added to each filter's values */
    ACTIVATION activation; /* LINEAR, or another for which convolution_can_activate returns 1 */
    convolution_sum sum;
} convolution_shape;

typedef enum {
    CONVOLUTION_FORWARD,
    CONVOLUTION_BACKWARD_DATA,
    CONVOLUTION_BACKWARD_WEIGHTS
} convolution_pass;

typedef struct convolution convolution;

/* Return 1 if this CPU has instructions for bf16 numbers, and oneDNN uses them. */
int convolution_has_bf16(void);

/* Return 1 if this CPU's instructions for products of bf16 numbers are those of AMX. */
int convolution_has_amx(void);

/* Return 1 if this CPU multiplies bf16 numbers in less time than floats: if it has AMX, or is AMD's
 * and has avx512_bf16 (measured on Zen 5). */
int convolution_has_fast_bf16(void);

/* Return 1 if a is LINEAR, or an activation that oneDNN computes here, by Darknet's formula. */
int convolution_can_activate(ACTIVATION a);

/* Return the handle of a shape; it lives until the process ends. The first call for a shape takes
 * milliseconds. Return NULL if oneDNN has no fast code for such a convolution on this CPU. */
convolution *convolution_of(const convolution_shape *shape);

/* Return how many rows y has. */
int convolution_out_height(const convolution_shape *shape);
/* Return how many columns y has. */
int convolution_out_width(const convolution_shape *shape);

/* Return how many bytes the packed weights of a pass have. The pass is CONVOLUTION_FORWARD or
 * CONVOLUTION_BACKWARD_DATA, also in the next two functions. */
size_t convolution_packed_bytes(convolution *c, convolution_pass pass);

/* Write weights to packed as the pass reads them: in its layout, and with bf16 in bf16.
 *   weights   floats, [filter][channel of the group][row][column]
 *   packed    convolution_packed_bytes bytes, aligned to 64 */
void convolution_pack(convolution *c, convolution_pass pass, const float *weights, void *packed);

/* Return 1 if a and b read packed weights in one layout in this pass. Then one packing of the same
 * weights does for both. */
int convolution_same_packing(convolution *a, convolution *b, convolution_pass pass);

/* Return how many bytes of scratch memory a pass needs; 0: none. */
size_t convolution_scratch_bytes(convolution *c, convolution_pass pass);

/* Compute y from x, for the shape's number of images.
 *   packed    weights, by convolution_pack for this pass
 *   bias      a float for each filter; NULL without has_bias
 *   scratch   convolution_scratch_bytes bytes for this pass, aligned to 64 */
void convolution_forward(convolution *c, const void *packed, const float *bias, const void *x,
                         void *y, void *scratch);

/* Compute dx, the gradient of x, from dy, the gradient of y. add: 1 adds it to what dx holds, 0
 * sets dx. scratch: convolution_scratch_bytes bytes, aligned to 64. */
void convolution_backward_data(convolution *c, const void *packed, const void *dy, void *dx,
                               int add, void *scratch);

/* Add the gradient of weights to `gradients`, floats that lie as convolution_pack's weights do.
 * scratch: convolution_scratch_bytes bytes for this pass, aligned to 64. */
void convolution_backward_weights(convolution *c, const void *x, const void *dy, float *gradients,
                                  void *scratch);

#endif
