#include "layers/gradients/gradients.h"

#include "blas.h"
#include "layers/gradients/columns.h"
#include "layers/gradients/products.h"
#include "layers/onednn/threads.h"
#include "layers/onednn/windows.h"

enum { COPY_THAT_STAYS = 1 << 19 /* bytes of a copy of x that stays in a core's cache */ };

/* All that the products of a chunk are computed from. */
typedef struct {
    const gradients_cut *cut;
    const gradients_chunk *chunk;
    gradients_memory memory;
    const gradients_kernel *kernel;
    int sources[BLOCK_SIDE * MOST_WINDOW]; /* for each channel of a block and weight of its window,
                                         where the sums of a filter have it */
    float *gradients;
    int parts; /* parts of a block, of rows of the window: more than one if there are more threads
                  than blocks */
} product;

gradients_way gradients_fastest_way(void)
{
#ifdef __x86_64__
    if (convolution_has_amx())
        return GRADIENTS_AMX;
    if (convolution_has_bf16())
        return GRADIENTS_BF16;
#endif
    return GRADIENTS_PLAIN;
}

static const gradients_kernel *kernel_of(gradients_way way)
{
#ifdef __x86_64__
    if (way == GRADIENTS_AMX)
        return &gradients_amx;
    if (way == GRADIENTS_BF16)
        return &gradients_bf16;
#endif
    (void)way;
    return &gradients_plain;
}

static void find_sources(const gradients_cut *c, int *sources)
{
    const int window = c->s.size * c->s.size;

    for (int i = 0; i < BLOCK_SIDE * window; ++i) {
        const int channel = i / window;

        sources[i] = i % window * BLOCK_SUMS + channel / SIDE * TILE + channel % SIDE;
    }
}

/* ---- a block: its number among those of the filters, and of the channels ---- */

/* Return where the gradients of the first channel of a block lie, of filter i of the block; NULL if
 * the layer has no such filter. */
static float *gradients_of(const product *p, int filters, int channels, int i)
{
    const gradients_cut *c = p->cut;
    const int filter = filters * BLOCK_SIDE + i, window = c->s.size * c->s.size;

    if (filter >= c->s.filters)
        return NULL;
    return p->gradients
           + ((size_t)filter * (size_t)c->channels + (size_t)(channels * BLOCK_SIDE))
                 * (size_t)window;
}

/* Return how many gradients a filter has of the channels of a block. */
static int gradient_count(const product *p, int channels)
{
    const gradients_cut *c = p->cut;

    return smaller_of(BLOCK_SIDE, c->channels - channels * BLOCK_SIDE) * c->s.size * c->s.size;
}

/* Fetch the gradients of a block into the cache. */
static void fetch_gradients(const product *p, int filters, int channels)
{
    const int count = gradient_count(p, channels);
    const float *to;

    for (int i = 0; i < BLOCK_SIDE && (to = gradients_of(p, filters, channels, i)) != NULL; ++i)
        for (int j = 0; j < count; j += SIDE)
            __builtin_prefetch(to + j, 1, 2);
}

/* Compute sums of a block, of rows `first` to last - 1 of the window. */
static void multiply_block(const product *p, int filters, int channels, int first, int last,
                           float *sums)
{
    const gradients_cut *c = p->cut;
    const gradients_chunk *k = p->chunk;
    gradients_operands o = {.x_next = panel_pairs(c),
                            .dy_next = (size_t)(k->images * k->tiles) * TILE,
                            .x_image = (size_t)(k->rows + c->shifts) * row_pairs(c),
                            .images = k->images,
                            .tiles = k->tiles,
                            .pairs = k->rows * c->pairs,
                            .is_first = k->is_first};
    const size_t dy_value = c->by_rows ? (size_t)filter_halves(c) * o.dy_next : 0;

    sums += (size_t)(first * c->values) * BLOCK_SUMS;
    for (int i = first; i < last; ++i) {
        const int row = i * c->s.dilation;
        const int value = row % c->s.stride_y * c->values; /* of all phases */
        const size_t shift = (size_t)(row / c->s.stride_y) * row_pairs(c);

        for (int j = 0; j < c->values; ++j, sums += BLOCK_SUMS) {
            const int panel = (value + j) * channel_halves(c) + 2 * channels;

            o.dy = p->memory.dy + (size_t)j * dy_value + (size_t)(2 * filters) * o.dy_next;
            o.x = p->memory.x + (size_t)panel * panel_pairs(c) + shift;
            p->kernel->multiply(&o, sums);
        }
    }
}

/* Add a filter's sums to its gradients, which lie in another order than columns do. first: the
 * first value of the columns; count: how many there are in the block */
static void add_columns(const product *p, const float *from, int first, int count, float *to)
{
    const int window = p->cut->window, channels = p->cut->channels / window;

    for (int i = 0; i < count; ++i) {
        const int value = first + i;

        to[value % channels * window + value / channels] += from[p->sources[i]];
    }
}

/* Add a filter's sums to its gradients, if the window has one weight. */
VECTORIZE
static void add_row(int count, const float *restrict from, float *restrict to)
{
    if (count == BLOCK_SIDE) {
        for (int i = 0; i < SIDE; ++i)
            to[i] += from[i];
        for (int i = 0; i < SIDE; ++i)
            to[SIDE + i] += from[TILE + i];
        return;
    }
    for (int i = 0; i < count; ++i)
        to[i] += from[i / SIDE * TILE + i % SIDE];
}

/* The first eight weights of a window. */
typedef float window_front __attribute__((vector_size(8 * sizeof(float))));

/* Add a filter's sums of SIDE channels to its gradients, if the window has 3x3 weights. */
VECTORIZE
static void add_windows(const float *from, float *to)
{
    transposed weights[TRANSPOSED] = {{0}}, channels[TRANSPOSED];

    for (int i = 0; i < WINDOW_WEIGHTS; ++i)
        memcpy(&weights[i], from + (size_t)i * BLOCK_SUMS, sizeof weights[i]);
    transpose(weights, channels);
    for (int i = 0; i < SIDE; ++i, to += WINDOW_WEIGHTS) {
        const transposed sums = channels[i];
        const window_front front =
            (window_front)__builtin_shufflevector(sums, sums, 0, 1, 2, 3, 4, 5, 6, 7);
        float last;
        window_front held;

        memcpy(&held, to, sizeof held);
        held += front;
        memcpy(to, &held, sizeof held);
        memcpy(&last, (const float *)&sums + 8, sizeof last);
        to[8] += last;
    }
}

/* Add a filter's sums to its gradients. */
static void add_filter(const product *p, const float *from, int count, float *to)
{
    int i = 0;

    if (p->cut->window == WINDOW_WEIGHTS)
        for (; i + WINDOW_WEIGHTS * SIDE <= count; i += WINDOW_WEIGHTS * SIDE)
            add_windows(from + p->sources[i], to + i);
    for (; i < count; ++i)
        to[i] += from[p->sources[i]];
}

static void add_sums(const product *p, int filters, int channels, const float *sums)
{
    const int count = gradient_count(p, channels), first = channels * BLOCK_SIDE;
    float *to;

    for (int i = 0; i < BLOCK_SIDE && (to = gradients_of(p, filters, channels, i)) != NULL; ++i) {
        const float *from = sums + i / SIDE * 2 * TILE + i % SIDE * SIDE;

        if (p->cut->has_columns)
            add_columns(p, from, first, count, to - first);
        else if (p->cut->window == 1)
            add_row(count, from, to);
        else
            add_filter(p, from, count, to);
    }
}

/* ---- all blocks ---- */

/* Find which filters and channels a block has. A filter's gradients lie side by side, so its blocks
 * follow each other; but if the copy of x is too large for the cache, and larger than dy's, it is
 * read only once. */
static void find_block(const product *p, int number, int *filters, int *channels)
{
    const gradients_cut *c = p->cut;
    const int across = channel_halves(c) / 2, down = filter_halves(c) / 2;
    const size_t x_pairs = (size_t)panel_count(c) * panel_pairs(c);
    const int by_channels =
        x_pairs * sizeof(unsigned) > COPY_THAT_STAYS && x_pairs > gradients_dy_pairs(c);

    *filters = by_channels ? number % down : number / across;
    *channels = by_channels ? number / down : number % across;
}

/* Return a block's sums. A thread's place stays in its cache; but sums of several chunks, or of
 * several threads, must be kept. With the static schedule of the loop over blocks only threads
 * whose number is below that of the blocks use their place. */
static float *sums_of(const product *p, int number)
{
    const int place = p->cut->chunks > 1 || p->parts > 1 ? number : thread_number();

    return p->memory.sums + (size_t)place * sums_of_block(p->cut);
}

static void finish_block(const product *p, int number)
{
    int filters, channels;

    find_block(p, number, &filters, &channels);
    if (p->cut->by_rows)
        gradients_transform_sums(p->cut, sums_of(p, number));
    add_sums(p, filters, channels, sums_of(p, number));
}

/* Compute part `number` of all parts of blocks. */
static void compute_part(const product *p, int number)
{
    const int block = number / p->parts, part = number % p->parts, size = p->cut->s.size;
    int filters, channels;

    find_block(p, block, &filters, &channels);
    if (p->chunk->is_last && p->parts == 1)
        fetch_gradients(p, filters, channels);
    multiply_block(p, filters, channels, size * part / p->parts, size * (part + 1) / p->parts,
                   sums_of(p, block));
    if (p->chunk->is_last && p->parts == 1)
        finish_block(p, block);
}

static void compute_blocks(const product *p)
{
    const int blocks = block_count(p->cut);

#ifdef _OPENMP
#pragma omp parallel
#endif
    {
        if (p->kernel->begin)
            p->kernel->begin();
#ifdef _OPENMP
#pragma omp for schedule(static)
#endif
        for (int i = 0; i < blocks * p->parts; ++i)
            compute_part(p, i);
        if (p->kernel->end)
            p->kernel->end();
#ifdef _OPENMP
#pragma omp for schedule(static)
#endif
        for (int i = 0; i < (p->chunk->is_last && p->parts > 1 ? blocks : 0); ++i)
            finish_block(p, i);
    }
}

/* Fewer images may take more: rows of an odd width are joined only if their number is even. */
size_t gradients_scratch_bytes(const convolution_shape *s, gradients_way way)
{
    convolution_shape some = *s;
    size_t most = 0;

    for (; some.images > 0; --some.images) {
        const gradients_cut c = gradients_cut_of(&some, way != GRADIENTS_AMX);
        const size_t bytes = gradients_scratch_of(&c);

        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Copy a chunk of x, or of its columns. */
static void copy_x(const convolution_shape *s, const product *p, const unsigned short *x)
{
    const gradients_cut *c = p->cut;
    gradients_chunk of_columns = *p->chunk;
    const int rows = c->width / convolution_out_width(s); /* of y, in a row of the chunk */

    if (!c->has_columns) {
        gradients_copy_x(c, p->chunk, x, p->memory.x);
        return;
    }
    write_columns(s, x, of_columns.row * rows, of_columns.rows * rows, p->memory.columns);
    of_columns.row = 0;
    gradients_copy_x(c, &of_columns, p->memory.columns, p->memory.x);
}

void gradients_add(const convolution_shape *s, gradients_way way, const void *x, const void *dy,
                   float *gradients, void *scratch)
{
    const gradients_cut c = gradients_cut_of(s, way != GRADIENTS_AMX);
    product p = {.cut = &c,
                 .memory = gradients_memory_at(&c, scratch),
                 .kernel = kernel_of(way),
                 .gradients = gradients};

    p.parts = most_threads() > block_count(&c) ? c.s.size : 1;
    find_sources(&c, p.sources);
    for (int i = 0; i < c.chunks; ++i) {
        const gradients_chunk k = gradients_chunk_at(&c, i);

        p.chunk = &k;
        copy_x(s, &p, x);
        gradients_copy_dy(&c, &k, dy, p.memory.dy);
        compute_blocks(&p);
    }
}
