/* layers/inference/winograd.h: 3x3 convolutions of float images by Winograd's algorithm.
 *
 * The output is cut into tiles of m x m pixels. Transforms of the input's tiles and of the weights
 * turn the convolution into (m + 2)^2 matrix products: tiles x channels times channels x filters.
 * Another transform turns the products into the output. A convolution has 4 times as many
 * multiplications as m = 4, and 2.25 times as many as m = 2. The weights take (m + 2)^2 / 9 times
 * their memory. Blocks of tiles are computed one after the other, so that they stay in the cache.
 * Images are NHWC, as in onednn/convolution.h. The output has the same bits for any number of
 * images and threads. Only winograd_suits exists in a build without oneDNN. */
#ifndef LAYERS_INFERENCE_WINOGRAD_H
#define LAYERS_INFERENCE_WINOGRAD_H

#include "layers/onednn/convolution.h"

/* Return 1 if Winograd's algorithm computes shape s faster than oneDNN's convolution: the same on
 * all machines. Such a shape is of floats, 3x3, with stride 1, one group and no dilation. Channels
 * and filters are multiples of 16, and the output has at least 8 x 8 pixels. Return 0 in a build
 * without oneDNN. The functions below want a shape that suits. */
int winograd_suits(const convolution_shape *s);

/* Return m: 4 if the output has at least 16 x 16 pixels, else 2. */
int winograd_tile_side(const convolution_shape *s);

/* Return how many bytes the packed weights have. */
size_t winograd_packed_bytes(const convolution_shape *s);

/* Return how many bytes of scratch memory winograd_forward needs. */
size_t winograd_scratch_bytes(const convolution_shape *s);

/* Transform weights, floats [filter][channel][row][column], and write them to packed. */
void winograd_pack(const convolution_shape *s, const float *weights, float *packed);

/* Compute y from x, with the activation and the sum of s, and with bias, a float for each filter.
 * scratch: winograd_scratch_bytes, aligned to 64. */
void winograd_forward(const convolution_shape *s, const float *packed, const float *bias,
                      const float *x, float *y, float *scratch);

#endif
