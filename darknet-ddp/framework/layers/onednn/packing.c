#include "layers/onednn/handle.h"

#ifdef DNNL
#include "blas.h"
#include "layers/onednn/half.h"
#include "layers/onednn/windows.h"

#include <string.h>

/*
 * Packing of bf16 weights, in less time than oneDNN's copy takes. Where 16 pairs that lie side by
 * side are there, of 1x1 or 3x3, they are rounded and transposed in vectors. Else a line of weights
 * is rounded; then each pair of numbers is moved to its place. Weights and packed weights rarely
 * are in the cache, so they are fetched ahead.
 */

enum {
    MOST_ACROSS = 64, /* pairs of a row */
    MOST_WINDOW = 9,  /* weights of a window */
    MOST_LINE = MOST_ACROSS * MOST_WINDOW,
    MOST_ROWS = 144, /* rows that are packed at once, so that they stay in the cache */
    CACHE_LINE = 16, /* pairs, or floats */
    AHEAD = 1024     /* floats from those that are rounded to those that are fetched */
};

/* How a layout has weights: in pairs of two filters (of one channel) or of two channels (of one
 * filter). A row has pairs side by side; rows of a block lie one behind the other. Distances are
 * counted in pairs. */
typedef struct {
    int of_filters;              /* 1: a pair has two filters; 0: two channels */
    int across;                  /* pairs of a row: of as many channels, or with 0 filters */
    int rows;                    /* rows of a block */
    int count;                   /* rows in all for the channels, or filters, of one row */
    int rows_across;             /* rows that all channels, or filters, take */
    size_t block;                /* distance from one block of rows to the next */
    size_t row_across;           /* from a row to that of the next channels, or filters */
    size_t weights[MOST_WINDOW]; /* from the first weight of the window to each */
} pairs;

/* Return 1 if weights lie in pairs, not too many side by side, and then fill *p. is_turned: the
 * layout's first dimension is that of channels */
static int find_pairs(onednn_layout layout, int is_turned, int size, pairs *p)
{
    onednn_blocks b;
    int pair, other;

    if (!onednn_find_blocks(layout, &b) || b.count < 2 || b.count > 3 || b.sizes[b.count - 1] != 2)
        return 0;
    pair = (int)b.dimensions[b.count - 1];
    other = 1 - pair;
    if (pair > 1 || b.dimensions[b.count - 2] != other || (b.count == 3 && b.dimensions[0] != pair))
        return 0;
    p->of_filters = pair == is_turned;
    p->across = (int)b.sizes[b.count - 2];
    p->rows = b.count == 3 ? (int)b.sizes[0] : 1;
    p->count = (int)b.padded[pair] / 2;
    p->rows_across = (int)b.padded[other] / p->across;
    p->block = (size_t)b.strides[pair] / 2;
    p->row_across = (size_t)b.strides[other] / 2;
    for (int k = 0; k < size * size; ++k)
        p->weights[k] = (size_t)(k / size * b.strides[2] + k % size * b.strides[3]) / 2;
    return p->across <= MOST_ACROSS;
}

/* Return where a row lies: the first pair of its first weight. */
static size_t place_of_row(const pairs *p, int row)
{
    return (size_t)(row / p->rows) * p->block + (size_t)(row % p->rows * p->across);
}

/* Return `count` weights from `from` on. If only `has` of them exist, return a copy of these in
 * line, with zeros behind them. */
static const float *line_of(const float *from, int has, int count, float *line)
{
    if (has >= count)
        return from;
    has = has < 0 ? 0 : has;
    memcpy(line, from, (size_t)has * sizeof *line);
    memset(line + has, 0, (size_t)(count - has) * sizeof *line);
    return line;
}

static void fetch_ahead(int count, const float *from)
{
    for (int i = 0; i < count; i += CACHE_LINE)
        __builtin_prefetch(from + i + AHEAD);
}

/* Fetch, to write them, the cache lines of a row's weights that hold pair i. */
static void fetch_row(const pairs *p, int window, const unsigned *row, int i)
{
    for (int k = 0; k < window; ++k)
        __builtin_prefetch(row + p->weights[k] + i, 1);
}

static inline unsigned pair_of(unsigned short first, unsigned short second)
{
    return (unsigned)first | (unsigned)second << 16;
}

VECTORIZE
static void round_pairs(int count, const float *restrict first, const float *restrict second,
                        unsigned *restrict to)
{
    for (int i = 0; i < count; ++i)
        to[i] = pair_of(half_of_float(first[i]), half_of_float(second[i]));
}

/* Set *to to pairs of the 32 numbers from `from` on: each with the one behind it. */
static inline __attribute__((always_inline)) void round_neighbours(const float *from,
                                                                   transposed *to)
{
    window_floats a, b, first, second;

    memcpy(&a, from, sizeof a);
    memcpy(&b, from + TRANSPOSED, sizeof b);
    first =
        __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    second =
        __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    round_to_pairs(&first, &second, to);
}

/* Pack 16 pairs of 3x3 windows. The first windows of pairs lie `step` floats apart, and so do the
 * second ones. end: where all weights end; to: the first pair of the window's first weight */
VECTORIZE
static void pack_windows(const pairs *p, const float *first, const float *second, size_t step,
                         const float *end, unsigned *to)
{
    window_floats a[WINDOW_WEIGHTS], b[WINDOW_WEIGHTS];

    load_windows(first, step, end, a);
    load_windows(second, step, end, b);
    for (int k = 0; k < WINDOW_WEIGHTS; ++k) {
        transposed row;

        round_to_pairs(&a[k], &b[k], &row);
        memcpy(to + p->weights[k], &row, sizeof row);
    }
}

static const float *end_of(const convolution_shape *s, const float *weights)
{
    return weights + (size_t)(s->filters * s->channels) * (size_t)(s->size * s->size);
}

/* ---- pairs of filters ---- */

/* Pack a row, for each weight of the window. row: its number; channel: its first; to: its place. */
static void pack_filters(const convolution_shape *s, const pairs *p, int row, int channel,
                         const float *weights, unsigned *to)
{
    const int window = s->size * s->size, count = p->across * window;
    const size_t by_filter = (size_t)s->channels * (size_t)window;
    const float *lines[2], *first = weights + (size_t)(2 * row) * by_filter;
    float zeros[2][MOST_LINE];
    unsigned rounded[MOST_LINE];

    if (window == WINDOW_WEIGHTS && p->across % TRANSPOSED == 0 && 2 * row + 1 < s->filters
        && channel + p->across <= s->channels) {
        first += channel * window;
        fetch_ahead(count, first);
        fetch_ahead(count, first + by_filter);
        for (int i = 0; i < p->across; i += TRANSPOSED)
            pack_windows(p, first + i * window, first + by_filter + i * window, (size_t)window,
                         end_of(s, weights), to + i);
        return;
    }
    for (int i = 0; i < 2; ++i) {
        const int filter = 2 * row + i, has = filter < s->filters ? s->channels - channel : 0;
        const float *from = weights + (filter * s->channels + channel) * window;

        fetch_ahead(count, from);
        lines[i] = line_of(from, has * window, count, zeros[i]);
    }
    round_pairs(count, lines[0], lines[1], window > 1 ? rounded : to);
    for (int k = 0; window > 1 && k < window; ++k)
        for (int i = 0; i < p->across; ++i)
            to[p->weights[k] + (size_t)i] = rounded[i * window + k];
}

/* Pack row `row` of all channels: the order in which weights lie. */
static void pack_row_of_filters(const convolution_shape *s, const pairs *p, int row,
                                const float *weights, unsigned *packed)
{
    unsigned *to = packed + place_of_row(p, row);

    for (int i = 0; i < p->rows_across; ++i)
        for (int j = 0; j < p->across; j += CACHE_LINE)
            fetch_row(p, s->size * s->size, to + (size_t)i * p->row_across, j);
    for (int i = 0; i < p->rows_across; ++i)
        pack_filters(s, p, row, i * p->across, weights, to + (size_t)i * p->row_across);
}

/* ---- pairs of channels ---- */

static inline __attribute__((always_inline)) void move_pairs(int window, int count,
                                                             const unsigned short *from,
                                                             const size_t *rows,
                                                             const size_t *weights, unsigned *to)
{
    for (int i = 0; i < count; ++i, from += 2 * window)
        for (int k = 0; k < window; ++k)
            to[rows[i] + weights[k]] = pair_of(from[k], from[window + k]);
}

/* Pack a pair of one filter in each of `count` rows, from `row` on. places: where these rows lie;
 * packed: the filter's pair of a row that lies at 0. */
static void pack_channels(const convolution_shape *s, const pairs *p, int row, int count,
                          const size_t *places, int filter, const float *weights, unsigned *packed)
{
    const int window = s->size * s->size, values = 2 * count * window;
    const int has = filter < s->filters ? (s->channels - 2 * row) * window : 0;
    const float *from = weights + (filter * s->channels + 2 * row) * window;
    float zeros[MOST_LINE];
    unsigned short rounded[MOST_LINE];

    fetch_ahead(values, from);
    halves_of_floats((size_t)values, line_of(from, has, values, zeros), rounded);
    /* A constant window makes the loop of the most frequent one several times as fast. */
    if (window == 1)
        move_pairs(1, count, rounded, places, p->weights, packed);
    else
        move_pairs(window, count, rounded, places, p->weights, packed);
}

/* Return how many parts the rows of a filter make, that are packed at once. */
static int parts_of_rows(const convolution_shape *s, const pairs *p)
{
    return (p->count - 1) / (MOST_ROWS / (s->size * s->size)) + 1;
}

/* Pack 16 filters, from `filter` on, of 1x1: 16 rows, from `row` on. */
VECTORIZE
static void pack_tile(const convolution_shape *s, int row, const size_t *places, int filter,
                      const float *weights, unsigned *packed)
{
    const float *from = weights + (size_t)filter * (size_t)s->channels + 2 * row;
    transposed filters[TRANSPOSED], rows[TRANSPOSED];

    for (int i = 0; i < TRANSPOSED; ++i, from += s->channels) {
        __builtin_prefetch(from + 2 * TRANSPOSED);
        __builtin_prefetch(from + 3 * TRANSPOSED);
        round_neighbours(from, &filters[i]);
    }
    transpose(filters, rows);
    for (int i = 0; i < TRANSPOSED; ++i)
        memcpy(packed + places[i], &rows[i], sizeof rows[i]);
}

/* Pack `count` rows, from `row` on, of 16 filters, from `filter` on, and return 1. Return 0 if not
 * so many filters and channels are there, or the window is neither 1x1 nor 3x3. */
static int pack_tiles(const convolution_shape *s, const pairs *p, int row, int count,
                      const size_t *places, int filter, const float *weights, unsigned *packed)
{
    const size_t side = (size_t)s->size, window = side * side,
                 by_filter = (size_t)s->channels * window;
    const float *from = weights + (size_t)filter * by_filter + (size_t)(2 * row) * window;

    if (2 * (row + count) > s->channels || p->across % TRANSPOSED
        || filter + TRANSPOSED > s->filters)
        return 0;
    if (window == 1 && count % TRANSPOSED == 0) {
        for (int i = 0; i < count; i += TRANSPOSED)
            pack_tile(s, row + i, places + i, filter, weights, packed);
        return 1;
    }
    if (window != WINDOW_WEIGHTS)
        return 0;
    for (int i = 0; i < count; ++i, from += 2 * window)
        pack_windows(p, from, from + window, by_filter, end_of(s, weights), packed + places[i]);
    return 1;
}

/* Pack one part of the rows of as many filters as a row has. number: of the part, and then of the
 * filters. */
static void pack_rows_of_channels(const convolution_shape *s, const pairs *p, int number,
                                  const float *weights, unsigned *packed)
{
    const int window = s->size * s->size, most = MOST_ROWS / window;
    const int block = number / parts_of_rows(s, p), row = number % parts_of_rows(s, p) * most;
    const int count = p->count - row < most ? p->count - row : most;
    size_t places[MOST_ROWS];

    packed += (size_t)block * p->row_across;
    for (int i = 0; i < count; ++i)
        places[i] = place_of_row(p, row + i);
    for (int i = 0; i < p->across; ++i) {
        const int filter = block * p->across + i;

        if (i % TRANSPOSED == 0
            && pack_tiles(s, p, row, count, places, filter, weights, packed + i)) {
            i += TRANSPOSED - 1;
            continue;
        }
        for (int j = 0; i % CACHE_LINE == 0 && j < count; ++j)
            fetch_row(p, window, packed + places[j], i);
        pack_channels(s, p, row, count, places, filter, weights, packed + i);
    }
}

int onednn_pack_pairs(const convolution_shape *s, onednn_layout layout, int is_turned,
                      const float *weights, void *packed)
{
    pairs p;
    int count;

    if (!s->bf16 || s->groups > 1 || s->size * s->size > MOST_WINDOW
        || !find_pairs(layout, is_turned, s->size, &p))
        return 0;
    count = p.of_filters ? p.count : p.rows_across * parts_of_rows(s, &p);
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int i = 0; i < count; ++i)
        (p.of_filters ? pack_row_of_filters : pack_rows_of_channels)(s, &p, i, weights, packed);
    return 1;
}
#endif
