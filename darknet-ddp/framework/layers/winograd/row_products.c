#include "layers/winograd/row_products.h"

#include "blas.h"
#include "layers/onednn/half.h"
#include "layers/winograd/row_formulas.h"
#include "layers/winograd/row_tiles.h"

enum { WINDOW = 3 /* rows of a window */ };

VECTORIZE
static void add_pair(float first, float second, const unsigned *restrict weights,
                     float *restrict sums)
{
    for (int i = 0; i < ROW_FILTERS; ++i) {
        sums[i] += first * half_to_float((unsigned short)weights[i]);
        sums[i] += second * half_to_float((unsigned short)(weights[i] >> 16));
    }
}

void row_product_plain(const row_product *p, float *sums)
{
    for (int t = 0; t < p->tiles; ++t, sums += ROW_FILTERS) {
        const unsigned *weights = p->weights;

        for (int i = 0; i < ROW_FILTERS; ++i)
            sums[i] = 0;
        for (int r = 0; r < WINDOW; ++r)
            for (int i = 0; i < p->pairs; ++i, weights += ROW_FILTERS) {
                const unsigned x = p->x[(size_t)r * p->row + (size_t)(t * p->pairs + i)];

                add_pair(half_to_float((unsigned short)x), half_to_float((unsigned short)(x >> 16)),
                         weights, sums);
            }
    }
}

#ifdef __x86_64__
#include <immintrin.h>

#define BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))
#define INLINE static inline __attribute__((always_inline))

/* Multiply `tiles`, a constant number of them, whose sums stay in registers. */
BF16 INLINE void multiply(const row_product *p, int tiles, float *sums)
{
    __m512 first[ROW_PRODUCT_TILES], second[ROW_PRODUCT_TILES];
    const unsigned *weights = p->weights;
    const size_t next = (size_t)p->pairs;

#pragma GCC unroll 12
    for (int j = 0; j < tiles; ++j)
        first[j] = second[j] = _mm512_setzero_ps();
    for (int r = 0; r < WINDOW; ++r) {
        const unsigned *x = p->x + (size_t)r * p->row;

        for (int i = 0; i < p->pairs; ++i, weights += ROW_FILTERS) {
            const __m512bh a = (__m512bh)_mm512_load_si512(weights);
            const __m512bh b = (__m512bh)_mm512_load_si512(weights + ROW_LANES);

#pragma GCC unroll 12
            for (int j = 0; j < tiles; ++j) {
                const __m512bh d =
                    (__m512bh)_mm512_set1_epi32((int)x[(size_t)j * next + (size_t)i]);

                first[j] = _mm512_dpbf16_ps(first[j], d, a);
                second[j] = _mm512_dpbf16_ps(second[j], d, b);
            }
        }
    }
#pragma GCC unroll 12
    for (int j = 0; j < tiles; ++j) {
        _mm512_store_ps(sums + j * ROW_FILTERS, first[j]);
        _mm512_store_ps(sums + j * ROW_FILTERS + ROW_LANES, second[j]);
    }
}

#define MULTIPLY(tiles)                                                                            \
    BF16 static void multiply_##tiles(const row_product *p, float *sums)                           \
    {                                                                                              \
        multiply(p, tiles, sums);                                                                  \
    }
MULTIPLY(1)
MULTIPLY(2)
MULTIPLY(3)
MULTIPLY(4)
MULTIPLY(5)
MULTIPLY(6)
MULTIPLY(7)
MULTIPLY(8)
MULTIPLY(9)
MULTIPLY(10)
MULTIPLY(11)
MULTIPLY(12)

void row_product_bf16(const row_product *p, float *sums)
{
    static void (*const of_tiles[])(const row_product *, float *) = {
        multiply_1, multiply_2, multiply_3, multiply_4,  multiply_5,  multiply_6,
        multiply_7, multiply_8, multiply_9, multiply_10, multiply_11, multiply_12};

    of_tiles[p->tiles - 1](p, sums);
}
#else
void row_product_bf16(const row_product *p, float *sums)
{
    row_product_plain(p, sums);
}
#endif
