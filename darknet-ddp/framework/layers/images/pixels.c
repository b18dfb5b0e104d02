#include "layers/images/pixels.h"
#include "image.h"
#include "utils.h"

#include <stdlib.h>
#include <string.h>

#include "layers/images/exact_loops.h"

/* v*(1/255.) of a byte, rounded once: v*LARGE is exact, and v*SMALL is too small for its rounding
 * to count. */
#define LARGE (257 / 65536.f)
#define SMALL ((float)(1 / 255. - 257 / 65536.))

static inline float of_byte(int v)
{
    return (float)v * LARGE + (float)v * SMALL;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

VECTORIZE static void one_channel(const unsigned char *restrict bytes, size_t n,
                                  float *restrict out)
{
    size_t i;
    for (i = 0; i < n; ++i)
        out[i] = of_byte(bytes[i]);
}

VECTORIZE static void three_channels(const unsigned char *restrict bytes, size_t n,
                                     float *restrict r, float *restrict g, float *restrict b)
{
    size_t i;
    for (i = 0; i < n; ++i) {
        r[i] = of_byte(bytes[3 * i]);
        g[i] = of_byte(bytes[3 * i + 1]);
        b[i] = of_byte(bytes[3 * i + 2]);
    }
}

void pixels_from_bytes(const unsigned char *bytes, size_t n, int c, float *planes)
{
    size_t i;
    int k;
    if (c == 1)
        one_channel(bytes, n, planes);
    else if (c == 3)
        three_channels(bytes, n, planes, planes + n, planes + 2 * n);
    else
        for (k = 0; k < c; ++k)
            for (i = 0; i < n; ++i)
                planes[(size_t)k * n + i] = of_byte(bytes[(size_t)c * i + (size_t)k]);
}

VECTORIZE static void mix(const float *restrict one, const float *restrict other, float a, float b,
                          int n, float *restrict out)
{
    int i;
    for (i = 0; i < n; ++i)
        out[i] = a * one[i] + b * other[i];
}

void pixels_mix_rows(const float *one, const float *other, float weight, int n, float *out)
{
    mix(one, other, 1 - weight, weight, n, out);
}

pixel_pair *pixels_find_pairs(int begin, int count, int corner, int size, int pixels, int mirror)
{
    int i;
    float step = (float)pixels * (1.f / (float)size);
    pixel_pair *b = calloc((size_t)count, sizeof(pixel_pair));
    for (i = 0; i < count; ++i) {
        int at = begin + i - corner;
        if (at < 0 || at >= size) {
            b[i].first = -1;
            continue;
        }
        if (mirror)
            at = size - 1 - at;
        float x = constrain(0, (float)(pixels - 1), ((float)at + .5f) * step - .5f);
        b[i].first = (int)x;
        b[i].second = b[i].first + 1 < pixels ? b[i].first + 1 : b[i].first;
        b[i].weight = x - (float)b[i].first;
    }
    return b;
}

VECTORIZE void pixels_interpolate_row(const float *restrict from,
                                      const pixel_pair *restrict columns, int n,
                                      float *restrict out)
{
    int i;
    for (i = 0; i < n; ++i) {
        float w = columns[i].weight;
        out[i] = from[columns[i].first] * (1 - w) + from[columns[i].second] * w;
    }
}

/* The sum, in doubles, of values that were bytes is exact for up to four million of them. So the
 * result does not depend on their order. */
VECTORIZE float pixels_mean(const float *restrict plane, size_t n)
{
    enum { LANES = 16 };
    size_t i, k;
    double sums[LANES] = {0};
    for (i = 0; i + LANES <= n; i += LANES)
        for (k = 0; k < LANES; ++k)
            sums[k] += plane[i + k];
    for (k = 0; i + k < n; ++k)
        sums[k] += plane[i + k];
    for (k = 1; k < LANES; ++k)
        sums[0] += sums[k];
    return n ? (float)(sums[0] * (1. / (double)n)) : 0;
}

/* ---- a picture scaled, where what lies outside is 0 ---- */

/* The last two rows of a plane that were asked for: the values at the left and at the right of each
 * column. */
typedef struct {
    image im;
    int channel, n;
    const int *at; // place in a row of each column's left value; the right one is the next
    float *padded; // a row, with zeros behind
    struct {
        int row;
        float *left, *right;
    } kept[2];
} neighbours;

VECTORIZE static void pick(const float *restrict from, const int *restrict at, int n,
                           float *restrict left, float *restrict right)
{
    int i;
    for (i = 0; i < n; ++i) {
        left[i] = from[at[i]];
        right[i] = from[at[i] + 1];
    }
}

/* Rows are asked for in ascending order, a pair at a time: an even one is kept in one place, an odd
 * one in the other. */
static int keep_row(neighbours *of, int row)
{
    int slot = row & 1;
    if (of->kept[slot].row == row)
        return slot;
    of->kept[slot].row = row;
    if (row >= of->im.h) {
        memset(of->kept[slot].left, 0, (size_t)of->n * sizeof(float));
        memset(of->kept[slot].right, 0, (size_t)of->n * sizeof(float));
        return slot;
    }
    memcpy(of->padded, plane_of(of->im, of->channel) + (size_t)row * (size_t)of->im.w,
           (size_t)of->im.w * sizeof(float));
    pick(of->padded, of->at, of->n, of->kept[slot].left, of->kept[slot].right);
    return slot;
}

VECTORIZE static void place_row(const float *restrict left, const float *restrict right,
                                const float *restrict left_below, const float *restrict right_below,
                                const float *restrict far, float down, int n, float *restrict out)
{
    int i;
    float up = 1 - down;
    for (i = 0; i < n; ++i) {
        float dx = far[i], near = 1 - dx;
        out[i] = near * left[i] * up + left_below[i] * (down * near) + right[i] * (dx * up)
                 + right_below[i] * (dx * down);
    }
}

/* Columns begin .. begin + n - 1 of w: where each lies, and how far from there. Not past the
 * picture's end. */
static void place_columns(int begin, int n, int w, int pixels, int *at, float *far)
{
    int i;
    float step = (float)pixels * (1.f / (float)w);
    for (i = 0; i < n; ++i) {
        float x = (float)(begin + i) * step;
        at[i] = least((int)x, pixels);
        far[i] = x - (float)(int)x;
    }
}

void place_image(image im, int w, int h, int dx, int dy, image canvas)
{
    int c, i, y;
    int begin = dx < 0 ? -dx : 0, n = least(w, canvas.w - dx) - begin;
    int top = dy < 0 ? -dy : 0, bottom = least(h, canvas.h - dy);
    if (n <= 0)
        return;
    float step = (float)im.h * (1.f / (float)h);
    int *at = calloc((size_t)n, sizeof(int));
    float *far = calloc((size_t)n, sizeof(float));
    float *rows = calloc(4 * (size_t)n, sizeof(float));
    float *padded = calloc((size_t)(im.w + 2), sizeof(float));
    place_columns(begin, n, w, im.w, at, far);
    for (c = 0; c < im.c && c < canvas.c; ++c) {
        neighbours of = {im, c, n, at, padded, {{0}}};
        for (i = 0; i < 2; ++i) {
            of.kept[i].row = -1;
            of.kept[i].left = rows + 2 * (size_t)i * (size_t)n;
            of.kept[i].right = of.kept[i].left + n;
        }
        for (y = top; y < bottom; ++y) {
            float at_y = (float)y * step;
            int row = least((int)at_y, im.h);
            int one = keep_row(&of, row), next = keep_row(&of, row + 1);
            place_row(of.kept[one].left, of.kept[one].right, of.kept[next].left,
                      of.kept[next].right, far, at_y - (float)(int)at_y, n,
                      plane_of(canvas, c) + (size_t)(y + dy) * (size_t)canvas.w + dx + begin);
        }
    }
    free(at);
    free(far);
    free(rows);
    free(padded);
}

/* ---- resized, cropped, mirrored ---- */

/* Return between which of `pixels` pixels each of the n lies that are made of them. The first and
 * the last of both are the same. The caller frees it. */
static pixel_pair *find_stretched(int n, int pixels)
{
    int i;
    float step = (float)(pixels - 1) / (float)(n - 1);
    pixel_pair *b = calloc((size_t)n, sizeof(pixel_pair));
    for (i = 0; i < n - 1 && pixels > 1; ++i) {
        float x = (float)i * step;
        b[i].first = (int)x;
        b[i].second = b[i].first + 1;
        b[i].weight = x - (float)b[i].first;
    }
    for (; i < n; ++i)
        b[i].first = b[i].second = pixels - 1;
    return b;
}

VECTORIZE static void scale_row(const float *restrict one, float a, int n, float *restrict out)
{
    int i;
    for (i = 0; i < n; ++i)
        out[i] = a * one[i];
}

image resize_image(image im, int w, int h)
{
    int r, c;
    image resized = make_image(w, h, im.c);
    float step = (float)(im.h - 1) / (float)(h - 1);
    pixel_pair *columns = find_stretched(w, im.w);
    float *rows = calloc(2 * (size_t)w, sizeof(float));
    for (c = 0; c < im.c; ++c) {
        int kept[2] = {-1, -1};
        for (r = 0; r < h; ++r) {
            float y = h > 1 ? (float)r * step : 0;
            float *out = plane_of(resized, c) + (size_t)r * (size_t)w;
            int row = (int)y, last = r == h - 1 || im.h == 1, i;
            for (i = row; i <= row + !last; ++i) {
                if (kept[i & 1] == i)
                    continue;
                pixels_interpolate_row(plane_of(im, c) + (size_t)i * (size_t)im.w, columns, w,
                                       rows + (size_t)(i & 1) * (size_t)w);
                kept[i & 1] = i;
            }
            const float *one = rows + (size_t)(row & 1) * (size_t)w;
            const float *other = rows + (size_t)(~row & 1) * (size_t)w;
            if (last)
                scale_row(one, 1 - (y - (float)row), w, out);
            else
                pixels_mix_rows(one, other, y - (float)row, w, out);
        }
    }
    free(columns);
    free(rows);
    return resized;
}

image crop_image(image im, int dx, int dy, int w, int h)
{
    image cropped = make_image(w, h, im.c);
    int c, x, y;
    int begin = constrain_int(-dx, 0, w),
        end = constrain_int(im.w - dx, begin, w); // of the columns that the picture has
    for (c = 0; c < im.c; ++c) {
        for (y = 0; y < h; ++y) {
            int row = constrain_int(y + dy, 0, im.h - 1);
            const float *from = plane_of(im, c) + (size_t)row * (size_t)im.w;
            float *out = plane_of(cropped, c) + (size_t)y * (size_t)w;
            for (x = 0; x < begin; ++x)
                out[x] = from[0];
            if (end > begin)
                memcpy(out + begin, from + begin + dx, (size_t)(end - begin) * sizeof(float));
            for (x = end; x < w; ++x)
                out[x] = from[begin == w ? 0 : im.w - 1];
        }
    }
    return cropped;
}

VECTORIZE static void mirror(const float *restrict from, int n, float *restrict out)
{
    int i;
    for (i = 0; i < n; ++i)
        out[i] = from[n - 1 - i];
}

void flip_image(image a)
{
    size_t i, w = (size_t)a.w;
    float *row = calloc(w, sizeof(float));
    for (i = 0; i < (size_t)a.h * (size_t)a.c; ++i) {
        memcpy(row, a.data + i * w, w * sizeof(float));
        mirror(row, a.w, a.data + i * w);
    }
    free(row);
}
