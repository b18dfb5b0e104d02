#include "image.h"
#include "layers/images/pixels.h"
#include "utils.h"

#include <math.h>
#include <stdlib.h>

#include "layers/images/exact_loops.h"

/* The four pixels of the picture that each pixel of a row lies between, and its share of each. */
typedef struct {
    int *at[4];
    float *share[4];
} corners;

/* x and y of a row's pixels: a line through the picture. */
typedef struct {
    double x, y, step, start, middle, cosine, sine;
} line;

static inline int within(int v, int n)
{
    return v < 0 ? 0 : v >= n ? n - 1 : v;
}

static inline int floor_of(float v)
{
    int i = (int)v;
    return i - (i > v);
}

VECTORIZE static void find_corners(line l, int w, int h, int n, int *restrict at0,
                                   int *restrict at1, int *restrict at2, int *restrict at3,
                                   float *restrict share0, float *restrict share1,
                                   float *restrict share2, float *restrict share3)
{
    int i;
    for (i = 0; i < n; ++i) {
        double along = (i - l.middle) * l.step + l.start;
        float x = (float)(l.cosine * along + l.x), y = (float)(l.sine * along + l.y);
        int ix = floor_of(x), iy = floor_of(y);
        float dx = x - (float)ix, dy = y - (float)iy;
        int left = within(ix, w), right = within(ix + 1, w);
        int above = within(iy, h) * w, below = within(iy + 1, h) * w;
        float in_left = left == ix, in_right = right == ix + 1;
        float in_above = within(iy, h) == iy, in_below = within(iy + 1, h) == iy + 1;
        at0[i] = above + left;
        at1[i] = below + left;
        at2[i] = above + right;
        at3[i] = below + right;
        share0[i] = (1 - dy) * (1 - dx) * (in_above * in_left);
        share1[i] = dy * (1 - dx) * (in_below * in_left);
        share2[i] = (1 - dy) * dx * (in_above * in_right);
        share3[i] = dy * dx * (in_below * in_right);
    }
}

VECTORIZE static void mix_corners(const float *restrict p, const int *restrict at0,
                                  const int *restrict at1, const int *restrict at2,
                                  const int *restrict at3, const float *restrict share0,
                                  const float *restrict share1, const float *restrict share2,
                                  const float *restrict share3, int n, float *restrict out)
{
    int i;
    for (i = 0; i < n; ++i)
        out[i] = share0[i] * p[at0[i]] + share1[i] * p[at1[i]] + share2[i] * p[at2[i]]
                 + share3[i] * p[at3[i]];
}

image rotate_crop_image(image im, float rad, float s, int w, int h, float dx, float dy,
                        float aspect)
{
    int y, c, k;
    image rot = make_image(w, h, im.c);
    double scale = 1. / s;
    float across = dx / s * aspect, down = dy / s;
    float cx = (float)(im.w * .5), cy = (float)(im.h * .5);
    line l = {0, 0, scale * aspect, across, w * .5, cos(rad), sin(rad)};
    corners of;
    int *at = calloc(4 * (size_t)w, sizeof(int));
    float *share = calloc(4 * (size_t)w, sizeof(float));
    for (k = 0; k < 4; ++k) {
        of.at[k] = at + (size_t)k * (size_t)w;
        of.share[k] = share + (size_t)k * (size_t)w;
    }
    for (y = 0; y < h; ++y) {
        double from_middle = (h * .5 - y) * scale;
        l.x = l.sine * (from_middle - down) + cx;
        l.y = l.cosine * (down - from_middle) + cy;
        find_corners(l, im.w, im.h, w, of.at[0], of.at[1], of.at[2], of.at[3], of.share[0],
                     of.share[1], of.share[2], of.share[3]);
        for (c = 0; c < im.c; ++c) {
            mix_corners(plane_of(im, c), of.at[0], of.at[1], of.at[2], of.at[3], of.share[0],
                        of.share[1], of.share[2], of.share[3], w,
                        plane_of(rot, c) + (size_t)y * (size_t)w);
        }
    }
    free(at);
    free(share);
    return rot;
}
