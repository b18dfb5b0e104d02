/* layers/winograd/winograd.h: 3x3 float convolutions and their gradients by Winograd's algorithm.
 *
 * The output is cut into tiles of m x m pixels. Transforms of the input's tiles and of the weights
 * turn the convolution into (m + 2)^2 matrix products: tiles x channels times channels x filters.
 * Another transform turns the products into the output. With whole tiles, a direct convolution has
 * 4 times as many multiplications as the products with m = 4, and 2.25 times as many with m = 2.
 * Packed weights take (m + 2)^2 / 9 times the memory. Blocks of tiles are computed one after the
 * other, so that they stay in the cache. Images are NHWC, as in onednn/convolution.h. Results have
 * the same bits for any number of threads, but not for any number of images: a block may span
 * several. Only winograd_suits exists in a build without oneDNN. */
#ifndef LAYERS_WINOGRAD_WINOGRAD_H
#define LAYERS_WINOGRAD_WINOGRAD_H

#include "layers/onednn/convolution.h"

/* Return 1 if this algorithm suits shape s: it is then faster than oneDNN's convolution. Such a
 * shape has floats, 3x3 filters, stride 1, one group and no dilation. Its channels and filters are
 * multiples of 16, and its output has at least 8 x 8 pixels. The answer is the same on all
 * machines, but 0 in a build without oneDNN. The functions below want such a shape. */
int winograd_suits(const convolution_shape *s);

/* Return m: 4 if the output has at least 16 x 16 pixels, else 2. */
int winograd_tile_side(const convolution_shape *s);

/* Return how many tiles the output of all images has. */
int winograd_tiles(const convolution_shape *s);

/* Return the shape of the convolution that computes dx from dy in the backward pass of s. It
 * has s->filters channels and s->channels filters, and no bias, activation or sum. If you set its
 * sum to CONVOLUTION_SUM_AFTER, winograd_forward adds to dx. */
convolution_shape winograd_backward_shape(const convolution_shape *s);

/* Return how many bytes the packed weights have. */
size_t winograd_packed_bytes(const convolution_shape *s);

/* Transform weights, floats [filter][channel][row][column], and write them to packed. */
void winograd_pack(const convolution_shape *s, const float *weights, float *packed);

/* Transform weights for a backward pass that computes dx, and write them to packed. s: result of
 * winograd_backward_shape; weights: those of the forward pass, as winograd_pack reads them. */
void winograd_pack_backward(const convolution_shape *s, const float *weights, float *packed);

/* Return how many bytes of scratch memory winograd_forward needs for s, also with fewer images. */
size_t winograd_forward_scratch(const convolution_shape *s);

/* Compute y from x, with s->activation and s->sum. bias: a float for each filter; NULL without
 * has_bias. scratch: winograd_forward_scratch bytes, aligned to 64. */
void winograd_forward(const convolution_shape *s, const float *packed, const float *bias,
                      const float *x, float *y, float *scratch);

/* Gradients of weights are computed in two steps: winograd_sum_products for some images at a time,
 * then winograd_add_gradients once for all of them. */

/* Return how many bytes winograd_sum_products needs for s, also with fewer images: at `sums` (the
 * first function), and at `scratch` (the second). */
size_t winograd_sums_bytes(const convolution_shape *s);
size_t winograd_sums_scratch(const convolution_shape *s);

/* Add the products of the transforms of x and dy, over all tiles, to sums. With is_first 1,
 * overwrite sums with them. dy: the gradient of y. sums: winograd_sums_bytes bytes; scratch:
 * winograd_sums_scratch bytes; both aligned to 64. */
void winograd_sum_products(const convolution_shape *s, const float *x, const float *dy,
                           int is_first, float *sums, float *scratch);

/* Add the gradients of weights to `gradients`, floats [filter][channel][row][column]. sums: what
 * winograd_sum_products has summed of all images. */
void winograd_add_gradients(const convolution_shape *s, const float *sums, float *gradients);

#endif
