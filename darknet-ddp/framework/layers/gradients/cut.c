#include "layers/gradients/cut.h"

#include "layers/gradients/columns.h"
#include "layers/winograd/rows.h"

enum {
    COPIES = 1 << 20,       /* bytes of a chunk's copies: half of what a core's own cache has */
    FEWEST_PIXELS = 512,    /* of a chunk, unless the mini-batch has fewer */
    FEWEST_TILES = 256,     /* of a chunk by rows, likewise */
    MOST_PIXELS = 2048,     /* of a chunk; by rows, tiles */
    FEW_CHANNELS = SIDE - 1 /* up to so many, columns are multiplied */
};

static int parts_of(int count, int size)
{
    return (count + size - 1) / size;
}

/* Return how many pixels, or tiles, of y a chunk may have. */
static int pixels_of_chunk(const gradients_cut *c)
{
    const int of_dy = c->by_rows ? ROW_VALUES * c->s.filters : c->s.filters;
    const int bytes = (c->s.channels * c->values + of_dy) * (int)sizeof(unsigned short);
    const int pixels = COPIES / bytes, fewest = c->by_rows ? FEWEST_TILES : FEWEST_PIXELS;

    return pixels < fewest ? fewest : smaller_of(pixels, MOST_PIXELS);
}

static int is_1x1(const convolution_shape *s)
{
    return s->size == 1 && s->stride_x == 1 && s->stride_y == 1 && s->pad == 0;
}

/* Make one image of all images, with an even number of pixels in a row if that can be. */
static void join_images(convolution_shape *s)
{
    s->height *= s->images;
    s->images = 1;
    if (s->width % 2 && s->height % 2 == 0) {
        s->width *= 2;
        s->height /= 2;
    }
}

gradients_cut gradients_cut_of(const convolution_shape *asked, int may_go_by_rows)
{
    gradients_cut c = {.s = *asked, .window = asked->size * asked->size};
    int pixels, most;

    c.has_columns = c.window > 1 && (asked->channels <= FEW_CHANNELS || c.window > MOST_WINDOW);
    if (c.has_columns)
        c.s = columns_shape(asked);
    c.channels = c.has_columns ? columns_values(asked) : asked->channels;
    if (is_1x1(&c.s))
        join_images(&c.s);
    c.height = convolution_out_height(&c.s);
    c.width = convolution_out_width(&c.s);
    c.by_rows = may_go_by_rows && !c.has_columns && winograd_rows_suit(&c.s);
    c.values = c.by_rows ? ROW_VALUES : c.s.size;
    c.pairs = parts_of(c.width, c.by_rows ? 2 * ROW_TILE : 2);
    pixels = 2 * c.pairs * c.height;
    most = pixels_of_chunk(&c);
    c.images = pixels < most ? smaller_of(most / pixels, c.s.images) : 1;
    c.rows = pixels < most ? c.height : parts_of(most, 2 * c.pairs);
    c.phases = c.s.size > 1 ? c.s.stride_y : 1;
    c.shifts = (c.s.size - 1) * c.s.dilation / c.s.stride_y;
    c.chunks = parts_of(c.s.images, c.images) * parts_of(c.height, c.rows);
    return c;
}

gradients_chunk gradients_chunk_at(const gradients_cut *c, int number)
{
    const int parts = parts_of(c->height, c->rows);
    gradients_chunk k = {.image = number / parts * c->images,
                         .row = number % parts * c->rows,
                         .is_first = number == 0,
                         .is_last = number == c->chunks - 1};

    k.images = smaller_of(c->images, c->s.images - k.image);
    k.rows = smaller_of(c->rows, c->height - k.row);
    k.tiles = parts_of(k.rows * c->pairs, SIDE);
    return k;
}

static size_t x_pairs(const gradients_cut *c)
{
    return (size_t)panel_count(c) * panel_pairs(c);
}

size_t gradients_dy_pairs(const gradients_cut *c)
{
    const int values = c->by_rows ? c->values : 1;

    return (size_t)(values * filter_halves(c) * c->images * parts_of(c->rows * c->pairs, SIDE))
           * TILE;
}

static size_t columns_numbers(const gradients_cut *c)
{
    return c->has_columns ? (size_t)(c->rows * c->width) * (size_t)c->s.channels : 0;
}

size_t gradients_scratch_of(const gradients_cut *c)
{
    return (x_pairs(c) + gradients_dy_pairs(c)) * sizeof(unsigned)
           + (size_t)block_count(c) * sums_of_block(c) * sizeof(float)
           + columns_numbers(c) * sizeof(unsigned short);
}

gradients_memory gradients_memory_at(const gradients_cut *c, void *scratch)
{
    gradients_memory m;

    m.x = scratch;
    m.dy = m.x + x_pairs(c);
    m.sums = (float *)(void *)(m.dy + gradients_dy_pairs(c));
    m.columns = (unsigned short *)(void *)(m.sums + (size_t)block_count(c) * sums_of_block(c));
    return m;
}
