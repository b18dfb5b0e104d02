#include "layers/onednn/handle.h"

#ifdef DNNL
#ifdef _OPENMP
#include <omp.h>
#endif
#include <string.h>

/* Gradients of weights as a product: G = dy^T * columns. dy is pixels x filters; a row of columns
 * has what the window reads for one pixel of y: row, column, channel. If the window is one pixel
 * and the stride 1, x itself serves as columns. */

static size_t value_bytes(const convolution_shape *s)
{
    return s->bf16 ? sizeof(unsigned short) : sizeof(float);
}

static int has_columns(const convolution_shape *s)
{
    return s->size > 1 || s->stride_x > 1 || s->stride_y > 1 || s->pad > 0;
}

static size_t row_values(const convolution_shape *s)
{
    return (size_t)s->size * (size_t)s->size * (size_t)s->channels;
}

static size_t pixels(const convolution_shape *s)
{
    return (size_t)s->images * (size_t)(convolution_out_height(s) * convolution_out_width(s));
}

static void make_product(convolution *c)
{
    const convolution_shape *s = &c->shape;
    const dnnl_data_type_t type = s->bf16 ? dnnl_bf16 : dnnl_f32;
    const dnnl_dims_t a = {s->filters, (dnnl_dim_t)pixels(s)};
    const dnnl_dims_t b = {(dnnl_dim_t)pixels(s), (dnnl_dim_t)row_values(s)};
    const dnnl_dims_t out = {s->filters, (dnnl_dim_t)row_values(s)};
    onednn_layout la = onednn_make_layout(2, a, type, dnnl_ba);
    onednn_layout lb = onednn_make_layout(2, b, type, dnnl_ab);
    onednn_layout lc = onednn_make_layout(2, out, dnnl_f32, dnnl_ab);
    dnnl_primitive_attr_t attributes = onednn_make_attributes(NULL, 0);
    dnnl_primitive_desc_t description = onednn_describe_matmul(la, lb, lc, attributes);

    onednn_check(dnnl_primitive_attr_destroy(attributes), "attributes");
    onednn_free_layout(la);
    onednn_free_layout(lb);
    onednn_free_layout(lc);
    if (description)
        onednn_make_primitive(&c->product, description);
}

#ifdef _OPENMP
/* Return how many threads, at most `most`, may compute a product such that its bits do not depend
 * on their number. oneDNN cuts the sum over pixels into parts, as many as the threads suggest: with
 * AMX from 16 threads on, else from 2 on if the pixels are 2048 or a larger power of two. Products
 * of float32, which only tests ask for, get one thread. */
static int threads_for(const convolution_shape *s, int most)
{
    const size_t k = pixels(s);

    if (!s->bf16)
        return 1;
    if (convolution_has_amx())
        return most < 15 ? most : 15;
    return k >= 2048 && (k & (k - 1)) == 0 ? 1 : most;
}

/* Let at most threads_for threads compute from now on; return how many did. A product is made and
 * run so: oneDNN asks for their number in both places. */
static int limit_threads(const convolution_shape *s)
{
    const int threads = omp_get_max_threads();

    omp_set_num_threads(threads_for(s, threads));
    return threads;
}

static void allow_threads(int threads)
{
    omp_set_num_threads(threads);
}
#else
static int limit_threads(const convolution_shape *s)
{
    (void)s;
    return 1;
}

static void allow_threads(int threads)
{
    (void)threads;
}
#endif

const onednn_primitive *onednn_product(convolution *c)
{
    if (c->shape.groups > 1)
        return NULL;
    (void)pthread_mutex_lock(&c->mutex);
    if (!c->product.primitive) {
        const int threads = limit_threads(&c->shape);

        make_product(c);
        allow_threads(threads);
    }
    (void)pthread_mutex_unlock(&c->mutex);
    return c->product.primitive ? &c->product : NULL;
}

/* Scratch memory: columns, G, the primitive's own. */
static size_t columns_bytes(const convolution_shape *s)
{
    return has_columns(s) ? onednn_round_up(pixels(s) * row_values(s) * value_bytes(s)) : 0;
}

static size_t result_bytes(const convolution_shape *s)
{
    return onednn_round_up((size_t)s->filters * row_values(s) * sizeof(float));
}

size_t onednn_product_scratch(convolution *c)
{
    const onednn_primitive *p = onednn_product(c);

    return p ? columns_bytes(&c->shape) + result_bytes(&c->shape) + p->scratch : 0;
}

/* Write what one row of the window reads of a row of x, or zeros where it reads beside the image.
 */
static void write_window_row(const convolution_shape *s, const char *row, int left, char *to)
{
    const size_t pixel = (size_t)s->channels * value_bytes(s);

    if (row && s->dilation == 1 && left >= 0 && left + s->size <= s->width) {
        memcpy(to, row + (size_t)left * pixel, (size_t)s->size * pixel);
        return;
    }
    for (int j = 0; j < s->size; ++j, to += pixel) {
        const int column = left + j * s->dilation;

        if (!row || column < 0 || column >= s->width)
            memset(to, 0, pixel);
        else
            memcpy(to, row + (size_t)column * pixel, pixel);
    }
}

static void write_columns(const convolution_shape *s, const char *x, char *columns)
{
    const int rows = convolution_out_height(s), places = convolution_out_width(s);
    const size_t pixel = (size_t)s->channels * value_bytes(s);
    const size_t x_row = (size_t)s->width * pixel;

#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int r = 0; r < s->images * rows; ++r) {
        const int top = r % rows * s->stride_y - s->pad;
        const char *image = x + (size_t)(r / rows) * (size_t)s->height * x_row;
        char *to = columns + (size_t)r * (size_t)places * row_values(s) * value_bytes(s);

        for (int p = 0; p < places; ++p) {
            for (int i = 0; i < s->size; ++i, to += (size_t)s->size * pixel) {
                const int row = top + i * s->dilation;

                write_window_row(s,
                                 row < 0 || row >= s->height ? NULL : image + (size_t)row * x_row,
                                 p * s->stride_x - s->pad, to);
            }
        }
    }
}

/* Add G, [filter][row][column][channel], to gradients, [filter][channel][row][column]. */
static void add_result(const convolution_shape *s, const float *g, float *gradients)
{
    const int window = s->size * s->size;

#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int f = 0; f < s->filters; ++f) {
        const float *from = g + (size_t)f * row_values(s);
        float *to = gradients + (size_t)f * row_values(s);

        if (window == 1)
            onednn_add_floats((long)row_values(s), from, to);
        for (int k = 0; window > 1 && k < s->channels; ++k)
            for (int w = 0; w < window; ++w)
                to[k * window + w] += from[w * s->channels + k];
    }
}

void onednn_run_product(convolution *c, const void *x, const void *dy, float *gradients,
                        void *scratch)
{
    const convolution_shape *s = &c->shape;
    const onednn_primitive *p = onednn_product(c);
    char *columns = scratch;
    float *g = (float *)(void *)(columns + columns_bytes(s));
    int threads;
    const onednn_argument arguments[] = {
        {DNNL_ARG_SRC, onednn_layout_of(p, dnnl_query_src_md), (void *)dy},
        {DNNL_ARG_WEIGHTS, onednn_layout_of(p, dnnl_query_weights_md),
         has_columns(s) ? columns : (void *)x},
        {DNNL_ARG_DST, onednn_layout_of(p, dnnl_query_dst_md), g},
    };

    if (has_columns(s))
        write_columns(s, x, columns);
    threads = limit_threads(s);
    onednn_run(p, arguments, 3, columns + columns_bytes(s) + result_bytes(s));
    allow_threads(threads);
    add_result(s, g, gradients);
}
#endif
