#include "layers/gradients/products.h"

#include "blas.h"
#include "layers/onednn/half.h"

/* Add the products of a pair of pixels of 32 channels, as floats, for one filter. */
VECTORIZE
static void add_pair(float first, float second, const float *restrict x, float *restrict sums)
{
    for (int i = 0; i < SIDE; ++i) {
        sums[i] += first * x[2 * i] + second * x[2 * i + 1];
        sums[TILE + i] += first * x[2 * SIDE + 2 * i] + second * x[2 * SIDE + 2 * i + 1];
    }
}

static void multiply_tile(const unsigned *dy, size_t dy_next, const unsigned *x, size_t x_next,
                          int pairs, float *sums)
{
    for (int i = 0; i < pairs; ++i) {
        float floats[2 * BLOCK_SIDE];

        floats_of_halves(BLOCK_SIDE, (const unsigned short *)(x + i * SIDE), floats);
        floats_of_halves(BLOCK_SIDE, (const unsigned short *)(x + x_next + i * SIDE),
                         floats + BLOCK_SIDE);
        for (int f = 0; f < BLOCK_SIDE; ++f) {
            const unsigned pair = dy[(size_t)(f / SIDE) * dy_next + (size_t)(f % SIDE * SIDE + i)];

            add_pair(half_to_float((unsigned short)pair),
                     half_to_float((unsigned short)(pair >> 16)), floats,
                     sums + f / SIDE * 2 * TILE + f % SIDE * SIDE);
        }
    }
}

static void multiply(const gradients_operands *o, float *sums)
{
    const unsigned *dy = o->dy;

    for (int i = 0; o->is_first && i < BLOCK_SUMS; ++i)
        sums[i] = 0;
    for (int n = 0; n < o->images; ++n)
        for (int i = 0; i < o->tiles; ++i, dy += TILE)
            multiply_tile(dy, o->dy_next, o->x + (size_t)n * o->x_image + (size_t)i * TILE,
                          o->x_next, smaller_of(SIDE, o->pairs - i * SIDE), sums);
}

const gradients_kernel gradients_plain = {.multiply = multiply};
