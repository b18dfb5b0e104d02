/* layers/gradients/gradients.h: gradients of a convolution's weights, from bf16 images.
 *
 * The gradients are the matrix product of dy, transposed, and what each weight of the window reads
 * of x. Sums are floats. Copies of x and dy are made in chunks that stay in the cache (cut.h).
 * Without AMX, Winograd's algorithm (winograd/rows.h) halves the multiplications of 3x3 layers. */
#ifndef LAYERS_GRADIENTS_H
#define LAYERS_GRADIENTS_H

#include "layers/onednn/convolution.h"

/* How numbers are multiplied. */
typedef enum {
    GRADIENTS_PLAIN, /* in float32, on any CPU */
    GRADIENTS_BF16,  /* by the instructions avx512_bf16 */
    GRADIENTS_AMX    /* by the tiles of AMX */
} gradients_way;

/* Return the fastest way that this CPU has. */
gradients_way gradients_fastest_way(void);

/* Return how many bytes of scratch memory gradients_add needs for shape s, with s->images images or
 * fewer. */
size_t gradients_scratch_bytes(const convolution_shape *s, gradients_way way);

/* Add the gradients of a convolution's weights to `gradients`. Their bits do not depend on the
 * number of threads.
 *   s           the convolution's shape, without groups; its member bf16 is not read
 *   x, dy       the input, and the gradient of the output: bf16, NHWC, s->images images
 *   gradients   floats, [filter][channel][row][column]
 *   scratch     gradients_scratch_bytes bytes, aligned to 64 */
void gradients_add(const convolution_shape *s, gradients_way way, const void *x, const void *dy,
                   float *gradients, void *scratch);

#endif
