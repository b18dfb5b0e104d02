#include "layers/winograd/rows.h"

#include "layers/onednn/threads.h"
#include "layers/winograd/row_formulas.h"
#include "layers/winograd/row_products.h"
#include "layers/winograd/row_tiles.h"

enum {
    WINDOW = 3,             /* rows and columns of a window */
    LEAST_SIDE = 7,         /* rows and columns of an output that suits */
    MOST_VALUES = 1 << 19,  /* bytes of a block's transformed input: half of a core's own cache */
    MOST_BLOCK_TILES = 256, /* of a block, unless a row has more */
    INPUTS = WINDOW - 1     /* rows of the input that an output has more than its own */
};

/* How the output is cut into blocks, whose transformed input stays in the cache: several images, or
 * rows of one image. */
typedef struct {
    convolution_shape s;
    int height, width; /* rows and columns of y */
    int across;        /* tiles of a row of y */
    int images, rows;  /* most images of a block, and most rows of y of each image */
} cut;

/* A block. */
typedef struct {
    int image, images; /* the first image, and how many there are */
    int row, rows;     /* the first row of y in each image, and how many there are */
} block;

static int smaller_of(int a, int b)
{
    return a < b ? a : b;
}

static int parts_of(int count, int size)
{
    return (count + size - 1) / size;
}

int winograd_rows_are_faster(void)
{
#ifdef __x86_64__
    return convolution_has_bf16() && !convolution_has_amx();
#else
    return 0;
#endif
}

int winograd_rows_suit(const convolution_shape *s)
{
    return s->size == WINDOW && s->stride_x == 1 && s->stride_y == 1 && s->dilation == 1
           && s->groups == 1 && s->channels % ROW_FILTERS == 0 && s->filters % ROW_FILTERS == 0
           && convolution_out_height(s) >= LEAST_SIDE && convolution_out_width(s) >= LEAST_SIDE;
}

/* ---- cut ---- */

static size_t values_of_row(const cut *c)
{
    return (size_t)c->across * (size_t)c->s.channels;
}

static cut cut_of(const convolution_shape *s)
{
    cut c = {.s = *s, .height = convolution_out_height(s), .width = convolution_out_width(s)};
    int rows, most;

    c.across = parts_of(c.width, ROW_TILE);
    rows = (int)(MOST_VALUES / (ROW_VALUES * sizeof(unsigned short) * values_of_row(&c)));
    most = smaller_of(rows - INPUTS, MOST_BLOCK_TILES / c.across);
    most = most < 1 ? 1 : most;
    c.rows = parts_of(c.height, parts_of(c.height, most));
    c.images = smaller_of(s->images, smaller_of(rows / (c.height + INPUTS), most / c.height));
    c.images = c.images < 1 ? 1 : c.images;
    return c;
}

static int block_count(const cut *c)
{
    return parts_of(c->s.images, c->images) * parts_of(c->height, c->rows);
}

static block block_at(const cut *c, int number)
{
    const int parts = parts_of(c->height, c->rows);
    block b = {.image = number / parts * c->images, .row = number % parts * c->rows};

    b.images = smaller_of(c->images, c->s.images - b.image);
    b.rows = smaller_of(c->rows, c->height - b.row);
    return b;
}

/* Return how many numbers lie between the transformed values, or the sums, of a block. */
static size_t input_step(const cut *c)
{
    return (size_t)(c->images * (c->rows + INPUTS)) * values_of_row(c);
}

static size_t sums_step(const cut *c)
{
    return (size_t)(c->images * c->rows * c->across) * ROW_FILTERS;
}

/* ---- weights: [filters / 32][value][row of the window][channels / 2][32], pairs ---- */

static size_t weights_step(const convolution_shape *s)
{
    return (size_t)(WINDOW * s->channels / 2) * ROW_FILTERS;
}

size_t winograd_rows_packed_bytes(const convolution_shape *s)
{
    return (size_t)(s->filters / ROW_FILTERS * ROW_VALUES) * weights_step(s) * sizeof(unsigned);
}

void winograd_rows_pack(const convolution_shape *s, const float *weights, int is_backward,
                        void *packed)
{
    const size_t window = WINDOW * WINDOW, filters = (size_t)s->filters;
    const size_t channels = (size_t)s->channels, by_row = channels / 2 * ROW_FILTERS;
    const size_t by_filter = is_backward ? window : channels * window;
    const size_t by_channel = is_backward ? filters * window : window;

#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (size_t f = 0; f < filters; f += ROW_LANES) {
        const size_t place = f / ROW_FILTERS * ROW_VALUES * weights_step(s) + f % ROW_FILTERS;
        unsigned *to = (unsigned *)packed + place;

        for (size_t c = 0; c < channels; c += 2, to += ROW_FILTERS)
            row_tiles_transform_weights(weights + f * by_filter + c * by_channel, by_filter,
                                        by_channel, weights + filters * channels * window,
                                        is_backward, to, weights_step(s), by_row);
    }
}

/* ---- a block ---- */

/* Transform the input of a block: [value][image][row][tile][channel]. */
static void transform_input(const cut *c, const block *b, const unsigned short *x,
                            unsigned short *to)
{
    const int rows = b->rows + INPUTS;
    const size_t x_row = (size_t)c->s.width * (size_t)c->s.channels;

#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int i = 0; i < b->images * rows; ++i) {
        const int image = b->image + i / rows, row = b->row + i % rows - c->s.pad;
        const unsigned short *from = NULL;

        if (row >= 0 && row < c->s.height)
            from = x + (size_t)(image * c->s.height + row) * x_row;
        row_tiles_transform_input(from, c->s.width, c->s.channels, -c->s.pad, c->across,
                                  to + (size_t)i * values_of_row(c), input_step(c));
    }
}

/* All that a block is computed from. */
typedef struct {
    const cut *cut;
    block block;
    int has_bf16;
    const unsigned *packed;
    const float *bias;
    const unsigned short *x;
    unsigned short *values; /* the block's transformed input */
    unsigned short *y;
} work;

/* Multiply rows of an image for one value. x, weights, sums: the first ones */
static void multiply_rows(const work *w, int rows, const unsigned short *x, const unsigned *weights,
                          float *sums)
{
    const cut *c = w->cut;
    const int tiles = rows * c->across, parts = parts_of(tiles, ROW_PRODUCT_TILES);
    row_product p = {.weights = weights, .row = values_of_row(c) / 2, .pairs = c->s.channels / 2};

    for (int i = 0; i < parts; ++i) {
        const int first = tiles * i / parts;

        p.x = (const unsigned *)(const void *)x + (size_t)first * (size_t)p.pairs;
        p.tiles = tiles * (i + 1) / parts - first;
        (w->has_bf16 ? row_product_bf16 : row_product_plain)(&p,
                                                             sums + (size_t)first * ROW_FILTERS);
    }
}

/* Compute ROW_FILTERS filters, from filter f on, of rows `first` to last - 1 of those of all images
 * of a block. sums: memory for all rows */
static void compute_filters(const work *w, int f, int first, int last, float *sums)
{
    const cut *c = w->cut;
    const block *b = &w->block;
    const size_t row_sums = (size_t)c->across * ROW_FILTERS;
    const unsigned *weights =
        w->packed + (size_t)(f / ROW_FILTERS * ROW_VALUES) * weights_step(&c->s);
    const row_output output = {
        .bias = w->bias ? w->bias + f : NULL, .activation = c->s.activation, .sum = c->s.sum};

    for (int v = 0; v < ROW_VALUES; ++v, weights += weights_step(&c->s))
        for (int row = first, rows; row < last; row += rows) {
            const int before =
                row / b->rows * INPUTS; /* rows of the input that images before it have more */

            rows = smaller_of(last - row, b->rows - row % b->rows);
            multiply_rows(w, rows,
                          w->values + (size_t)v * input_step(c)
                              + (size_t)(row + before) * values_of_row(c),
                          weights, sums + (size_t)v * sums_step(c) + (size_t)row * row_sums);
        }
    for (int row = first; row < last; ++row) {
        const int of_y = (b->image + row / b->rows) * c->height + b->row + row % b->rows;

        row_tiles_transform_output(
            sums + (size_t)row * row_sums, sums_step(c), c->width, &output, c->s.filters,
            w->y + (size_t)of_y * (size_t)c->width * (size_t)c->s.filters + f);
    }
}

/* Compute a block. If there are more threads than groups of filters, rows are divided, too. */
static void compute_block(const work *w, float *sums)
{
    const cut *c = w->cut;
    const int groups = c->s.filters / ROW_FILTERS, rows = w->block.images * w->block.rows;
    const int parts = smaller_of(parts_of(most_threads(), groups), rows);

    transform_input(c, &w->block, w->x, w->values);
#ifdef _OPENMP
#pragma omp parallel for schedule(static)
#endif
    for (int i = 0; i < groups * parts; ++i) {
        const int group = i / parts, part = i % parts;
        /* One after the other, groups take a thread's memory, which stays in the cache. */
        const int place = parts > 1 ? group : thread_number();

        compute_filters(w, group * ROW_FILTERS, rows * part / parts, rows * (part + 1) / parts,
                        sums + (size_t)(place * ROW_VALUES) * sums_step(c));
    }
}

/* Return how many floats take the place of a block's transformed input. */
static size_t input_floats(const cut *c)
{
    return ROW_VALUES * input_step(c) / 2;
}

size_t winograd_rows_scratch(const convolution_shape *s)
{
    const cut c = cut_of(s);
    const size_t sums = (size_t)(s->filters / ROW_FILTERS * ROW_VALUES) * sums_step(&c);

    return (input_floats(&c) + sums) * sizeof(float);
}

void winograd_rows_convolve(const convolution_shape *s, int has_bf16, const void *packed,
                            const float *bias, const void *x, void *y, void *scratch)
{
    const cut c = cut_of(s);
    float *sums = (float *)scratch + input_floats(&c);
    work w = {.cut = &c,
              .has_bf16 = has_bf16,
              .packed = packed,
              .bias = bias,
              .x = x,
              .values = scratch,
              .y = y};

    for (int i = 0; i < block_count(&c); ++i) {
        w.block = block_at(&c, i);
        compute_block(&w, sums);
    }
}
