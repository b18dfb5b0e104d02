#include "layers/gradients/products.h"

#ifdef __x86_64__
#include <immintrin.h>

/* Instructions that a function may use. */
#define BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))
#define AMX __attribute__((target("amx-tile,amx-bf16")))

/* ---- avx512_bf16 ---- */

enum { ROWS = 8 /* filters whose sums are kept in registers */ };

/* Multiply ROWS filters by so many pairs of pixels of both halves of the channels. */
BF16 static inline void multiply_pairs(int pairs, const unsigned *dy, const unsigned *x,
                                       size_t x_next, __m512 *first, __m512 *second)
{
    for (int i = 0; i < pairs; ++i) {
        const __m512bh a = (__m512bh)_mm512_load_si512(x + i * SIDE);
        const __m512bh b = (__m512bh)_mm512_load_si512(x + x_next + i * SIDE);

#pragma GCC unroll 8
        for (int j = 0; j < ROWS; ++j) {
            const __m512bh d = (__m512bh)_mm512_set1_epi32((int)dy[j * SIDE + i]);

            first[j] = _mm512_dpbf16_ps(first[j], d, a);
            second[j] = _mm512_dpbf16_ps(second[j], d, b);
        }
    }
}

/* Multiply ROWS filters. dy, sums: of the first one */
BF16 static void multiply_rows(const gradients_operands *o, const unsigned *dy, float *sums)
{
    __m512 first[ROWS], second[ROWS];

#pragma GCC unroll 8
    for (int j = 0; j < ROWS; ++j) {
        first[j] = o->is_first ? _mm512_setzero_ps() : _mm512_load_ps(sums + j * SIDE);
        second[j] = o->is_first ? _mm512_setzero_ps() : _mm512_load_ps(sums + TILE + j * SIDE);
    }
    for (int n = 0; n < o->images; ++n)
        for (int i = 0; i < o->tiles; ++i, dy += TILE)
            multiply_pairs(smaller_of(SIDE, o->pairs - i * SIDE), dy,
                           o->x + (size_t)n * o->x_image + (size_t)i * TILE, o->x_next, first,
                           second);
#pragma GCC unroll 8
    for (int j = 0; j < ROWS; ++j) {
        _mm512_store_ps(sums + j * SIDE, first[j]);
        _mm512_store_ps(sums + TILE + j * SIDE, second[j]);
    }
}

static void multiply_by_vectors(const gradients_operands *o, float *sums)
{
    for (int i = 0; i < BLOCK_SIDE; i += ROWS)
        multiply_rows(o, o->dy + (size_t)(i / SIDE) * o->dy_next + i % SIDE * SIDE,
                      sums + i / SIDE * 2 * TILE + i % SIDE * SIDE);
}

const gradients_kernel gradients_bf16 = {.multiply = multiply_by_vectors};

/* ---- AMX ---- */

/* Configure eight tiles of 16 rows of 64 bytes. */
AMX static void begin_tiles(void)
{
    static const struct {
        unsigned char palette, start_row, reserved[14];
        unsigned short row_bytes[16];
        unsigned char rows[16];
    } tiles = {.palette = 1,
               .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
               .rows = {16, 16, 16, 16, 16, 16, 16, 16}};

    _tile_loadconfig(&tiles);
}

AMX static void end_tiles(void)
{
    _tile_release();
}

AMX static void multiply_by_tiles(const gradients_operands *o, float *sums)
{
    const unsigned *dy = o->dy;

    if (o->is_first) {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    } else {
        _tile_loadd(0, sums, 64);
        _tile_loadd(1, sums + TILE, 64);
        _tile_loadd(2, sums + 2 * TILE, 64);
        _tile_loadd(3, sums + 3 * TILE, 64);
    }
    for (int n = 0; n < o->images; ++n) {
        const unsigned *x = o->x + (size_t)n * o->x_image;

        for (int i = 0; i < o->tiles; ++i, dy += TILE, x += TILE) {
            _tile_loadd(4, dy, 64);
            _tile_loadd(6, x, 64);
            _tile_loadd(7, x + o->x_next, 64);
            _tile_dpbf16ps(0, 4, 6);
            _tile_loadd(5, dy + o->dy_next, 64);
            _tile_dpbf16ps(1, 4, 7);
            _tile_dpbf16ps(2, 5, 6);
            _tile_dpbf16ps(3, 5, 7);
        }
    }
    _tile_stored(0, sums, 64);
    _tile_stored(1, sums + TILE, 64);
    _tile_stored(2, sums + 2 * TILE, 64);
    _tile_stored(3, sums + 3 * TILE, 64);
}

const gradients_kernel gradients_amx = {
    .begin = begin_tiles, .multiply = multiply_by_tiles, .end = end_tiles};
#endif
