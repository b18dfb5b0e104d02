#include "layers/inference/step.h"

#include "blas.h"
#include "layers/graph.h"
#include "layers/onednn/half.h"
#include "utils.h"

#include <float.h>
#include <stdlib.h>

/* Loops over images with channels last. Functions marked ALWAYS serve floats and bf16; most loops
 * call them with a constant as `bf16`, so that a compiler sees one type. */
#define ALWAYS static inline __attribute__((always_inline))

ALWAYS float get(const void *x, size_t i, int bf16)
{
    return bf16 ? half_to_float(((const unsigned short *)x)[i]) : ((const float *)x)[i];
}

ALWAYS void set(void *x, size_t i, float value, int bf16)
{
    if (bf16)
        ((unsigned short *)x)[i] = half_of_float(value);
    else
        ((float *)x)[i] = value;
}

static char *row_of(const inference_plan *p, const inference_tensor *t, int row)
{
    return (char *)t->values
           + (size_t)row * (size_t)t->width * (size_t)t->channels * inference_value_bytes(p);
}

static const inference_tensor *source_of(const inference_plan *p, const layer *l, int k)
{
    const int i = (int)(l - p->net->layers);

    return inference_tensor_of(p, inference_origin(p, layer_source(p->net, i, k)));
}

/* ---- conversions ---- */

VECTORIZE
static void pack_row(const float *from, size_t plane, int channels, int width, void *to, int bf16)
{
    for (int k = 0; k < channels; ++k) {
        const float *x = from + (size_t)k * plane;

        for (int j = 0; j < width; ++j) {
            const size_t at = (size_t)j * (size_t)channels + (size_t)k;

            if (bf16)
                set(to, at, x[j], 1);
            else
                set(to, at, x[j], 0);
        }
    }
}

void inference_pack(const inference_plan *p, const float *from, const inference_tensor *to)
{
    const size_t plane = (size_t)to->height * (size_t)to->width;

#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int r = 0; r < p->images * to->height; ++r) {
        const size_t image = (size_t)(r / to->height), row = (size_t)(r % to->height);

        pack_row(from + image * plane * (size_t)to->channels + row * (size_t)to->width, plane,
                 to->channels, to->width, row_of(p, to, r), p->bf16);
    }
}

VECTORIZE
static void unpack_row(const void *from, size_t plane, int channels, int width, float *to, int bf16)
{
    for (int k = 0; k < channels; ++k) {
        float *x = to + (size_t)k * plane;

        for (int j = 0; j < width; ++j) {
            const size_t at = (size_t)j * (size_t)channels + (size_t)k;

            x[j] = bf16 ? get(from, at, 1) : get(from, at, 0);
        }
    }
}

void inference_unpack(const inference_plan *p, const inference_tensor *from, float *to)
{
    const size_t plane = (size_t)from->height * (size_t)from->width;

#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int r = 0; r < p->images * from->height; ++r) {
        const size_t image = (size_t)(r / from->height), row = (size_t)(r % from->height);

        unpack_row(row_of(p, from, r), plane, from->channels, from->width,
                   to + image * plane * (size_t)from->channels + row * (size_t)from->width,
                   p->bf16);
    }
}

/* ---- activations ---- */

enum { AT_ONCE = 2048 };

void inference_activate(const inference_plan *p, const inference_tensor *t, ACTIVATION a)
{
    const long count = (long)(inference_tensor_bytes(p, t) / inference_value_bytes(p));

    if (a == LINEAR)
        return;
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (long i = 0; i < count; i += AT_ONCE) {
        const int many = (int)(count - i < AT_ONCE ? count - i : AT_ONCE);
        float floats[AT_ONCE];

        if (!p->bf16) {
            activate_array((float *)t->values + i, many, a);
            continue;
        }
        floats_of_halves((size_t)many, (unsigned short *)t->values + i, floats);
        activate_array(floats, many, a);
        halves_of_floats((size_t)many, floats, (unsigned short *)t->values + i);
    }
}

/* ---- [maxpool] ---- */

ALWAYS void take_greater_of(void *restrict to, const void *restrict from, int count, int bf16)
{
    for (int i = 0; i < count; ++i) {
        const float a = get(to, (size_t)i, bf16), b = get(from, (size_t)i, bf16);

        if (bf16)
            ((unsigned short *)to)[i] =
                b > a ? ((const unsigned short *)from)[i] : ((unsigned short *)to)[i];
        else
            ((float *)to)[i] = b > a ? b : a;
    }
}

VECTORIZE
static void take_greater(void *restrict to, const void *restrict from, int count, int bf16)
{
    if (bf16)
        take_greater_of(to, from, count, 1);
    else
        take_greater_of(to, from, count, 0);
}

/* The places first..last that a window reads, of `side` places. */
static void window_reach(int begin, int size, int side, int *first, int *last)
{
    *first = begin < 0 ? 0 : begin;
    *last = (begin + size > side ? side : begin + size) - 1;
}

/* Write the greatest of the input's rows first..last to `rows`, and of its columns to out. */
static void pool_row(const inference_plan *p, const layer *l, const inference_tensor *x, int image,
                     int row, char *rows, char *out)
{
    const size_t pixel = (size_t)l->c * inference_value_bytes(p);
    int first, last;

    window_reach(-l->pad / 2 + row * l->stride_y, l->size, l->h, &first, &last);
    memcpy(rows, row_of(p, x, image * l->h + first), pixel * (size_t)l->w);
    for (int r = first + 1; r <= last; ++r)
        take_greater(rows, row_of(p, x, image * l->h + r), l->w * l->c, p->bf16);
    for (int j = 0; j < l->out_w; ++j, out += pixel) {
        window_reach(-l->pad / 2 + j * l->stride_x, l->size, l->w, &first, &last);
        memcpy(out, rows + (size_t)first * pixel, pixel);
        for (int c = first + 1; c <= last; ++c)
            take_greater(out, rows + (size_t)c * pixel, l->c, p->bf16);
    }
}

static void run_maxpool(const inference_plan *p, const layer *l, const inference_step *s)
{
    const inference_tensor *x = source_of(p, l, 0);
    const size_t bytes = (size_t)l->w * (size_t)l->c * inference_value_bytes(p);

#ifdef _OPENMP
#pragma omp parallel
#endif
    {
        char *rows = malloc(bytes + 1);

        if (!rows)
            malloc_error();
#ifdef _OPENMP
#pragma omp for
#endif
        for (int r = 0; r < p->images * l->out_h; ++r)
            pool_row(p, l, x, r / l->out_h, r % l->out_h, rows, row_of(p, &s->out, r));
        free(rows);
    }
}

/* ---- [route], [upsample], [shortcut], [avgpool] ---- */

static void run_route(const inference_plan *p, const layer *l, const inference_step *s)
{
    const size_t value = inference_value_bytes(p);
    const size_t pixels = (size_t)p->images * (size_t)l->out_h * (size_t)l->out_w;
    char *out = s->out.values;

    for (int k = 0; k < l->n; ++k) {
        const inference_tensor *x = source_of(p, l, k);
        const size_t whole = (size_t)x->channels * value, taken = whole / (size_t)l->groups;
        const char *from = (const char *)x->values + (size_t)l->group_id * taken;

        for (size_t i = 0; i < pixels; ++i)
            memcpy(out + i * (size_t)s->out.channels * value, from + i * whole, taken);
        out += taken;
    }
}

VECTORIZE
static void multiply(void *x, int count, float by, int bf16)
{
    for (int i = 0; i < count; ++i)
        set(x, (size_t)i, by * get(x, (size_t)i, bf16), bf16);
}

static void run_upsample(const inference_plan *p, const layer *l, const inference_step *s)
{
    const inference_tensor *x = source_of(p, l, 0);
    const size_t pixel = (size_t)l->c * inference_value_bytes(p);

#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int r = 0; r < p->images * l->out_h; ++r) {
        const char *from = row_of(p, x, r / l->out_h * l->h + r % l->out_h / l->stride);
        char *to = row_of(p, &s->out, r);

        for (int j = 0; j < l->out_w; ++j)
            memcpy(to + (size_t)j * pixel, from + (size_t)(j / l->stride) * pixel, pixel);
        if (l->scale != 1)
            multiply(to, l->out_w * l->c, l->scale, p->bf16);
    }
}

VECTORIZE
static void add_row(const void *a, float alpha, const void *b, float beta, void *out, int count,
                    int bf16)
{
    for (int i = 0; i < count; ++i)
        set(out, (size_t)i, alpha * get(a, (size_t)i, bf16) + beta * get(b, (size_t)i, bf16), bf16);
}

static void run_shortcut(const inference_plan *p, const layer *l, const inference_step *s)
{
    const inference_tensor *a = source_of(p, l, 0), *b = source_of(p, l, 1);

#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int r = 0; r < p->images * l->out_h; ++r)
        add_row(row_of(p, a, r), l->alpha, row_of(p, b, r), l->beta, row_of(p, &s->out, r),
                l->out_w * l->out_c, p->bf16);
    inference_activate(p, &s->out, l->activation);
}

static void run_avgpool(const inference_plan *p, const layer *l, const inference_step *s)
{
    const inference_tensor *x = source_of(p, l, 0);
    const int pixels = l->h * l->w;
    float *sums = calloc((size_t)l->c, sizeof *sums);

    for (int image = 0; image < p->images; ++image) {
        const char *from = row_of(p, x, image * l->h);

        memset(sums, 0, (size_t)l->c * sizeof *sums);
        for (int i = 0; i < pixels; ++i)
            for (int k = 0; k < l->c; ++k)
                sums[k] += get(from, (size_t)i * (size_t)l->c + (size_t)k, p->bf16);
        for (int k = 0; k < l->c; ++k)
            set(s->out.values, (size_t)image * (size_t)l->c + (size_t)k, sums[k] / (float)pixels,
                p->bf16);
    }
    free(sums);
}

/* ---- which ---- */

/* Return 1 if the sources of a [route] have one size, and the groups cut each between channels. */
static int joins_channels(const inference_plan *p, const layer *l)
{
    for (int k = 0; k < l->n; ++k) {
        const inference_tensor *x = source_of(p, l, k);

        if (x->height != l->out_h || x->width != l->out_w || x->channels % l->groups)
            return 0;
    }
    return 1;
}

/* Return 1 if a [shortcut] adds two outputs of its own size. */
static int adds_alike(const inference_plan *p, const layer *l)
{
    const inference_tensor *b = source_of(p, l, 1);

    return !l->input_layers && l->nweights == 0 && b->channels == l->out_c && b->height == l->out_h
           && b->width == l->out_w && l->c == l->out_c && l->h == l->out_h && l->w == l->out_w;
}

inference_run inference_loop_of(const inference_plan *p, int i)
{
    const layer *l = &p->net->layers[i];

    switch (l->type) {
    case MAXPOOL:
        return l->depth ? NULL : run_maxpool;
    case ROUTE:
        return joins_channels(p, l) ? run_route : NULL;
    case UPSAMPLE:
        return l->reverse ? NULL : run_upsample;
    case SHORTCUT:
        return adds_alike(p, l) ? run_shortcut : NULL;
    case AVGPOOL:
        return run_avgpool;
    default:
        return NULL;
    }
}
