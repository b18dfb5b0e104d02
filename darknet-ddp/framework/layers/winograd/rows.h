/* layers/winograd/rows.h: 3x3 convolutions of bf16 images by Winograd's algorithm along rows.
 *
 * A row of the output is cut into tiles of 4 pixels. Transforms of the input's rows and of the
 * weights' rows turn the convolution into matrix products. There are 6 of them, in place of the 12
 * that 4 pixels and 3 columns of the window would take. Their factors are rounded to bf16, and sums
 * are floats. An output is then about 0.5 % of its norm away from the exact one; by a direct
 * convolution with weights in bf16 it is 0.2 %. Images are NHWC, as in onednn/convolution.h.
 * Results have the same bits for any number of images and threads. */
#ifndef LAYERS_WINOGRAD_ROWS_H
#define LAYERS_WINOGRAD_ROWS_H

#include "layers/onednn/convolution.h"

/* Return 1 if this CPU computes shapes that suit in less time than oneDNN does: if it has
 * avx512_bf16, and no AMX, which multiplies as fast as transforms are made. */
int winograd_rows_are_faster(void);

/* Return 1 if this algorithm suits shape s. Such a shape has 3x3 filters, stride 1, one group and
 * no dilation. Its channels and filters are multiples of 32, and its output has at least 7 x 7
 * pixels. The functions below want such a shape. */
int winograd_rows_suit(const convolution_shape *s);

/* Return how many bytes the packed weights have. */
size_t winograd_rows_packed_bytes(const convolution_shape *s);

/* Transform weights, floats [filter][channel][row][column], and write them to packed, aligned to
 * 64. is_backward: 1 packs them for the backward pass that computes dx; s is then the result of
 * winograd_backward_shape, and the weights are those of the forward pass. */
void winograd_rows_pack(const convolution_shape *s, const float *weights, int is_backward,
                        void *packed);

/* Return how many bytes of scratch memory winograd_rows_convolve needs for s. */
size_t winograd_rows_scratch(const convolution_shape *s);

/* Compute y from x, both bf16, with s->activation and s->sum.
 *   has_bf16   1: multiply by the instructions avx512_bf16, which the CPU must have; 0: in float32
 *   bias       a float for each filter; NULL: none is added
 *   scratch    winograd_rows_scratch bytes, aligned to 64 */
void winograd_rows_convolve(const convolution_shape *s, int has_bf16, const void *packed,
                            const float *bias, const void *x, void *y, void *scratch);

#endif
