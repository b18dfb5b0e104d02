#include "image.h"
#include "layers/images/pixels.h"
#include "utils.h"

#include <assert.h>

#include "layers/images/exact_loops.h"

/* Without branches, which vectors have none of. */
static inline float choose(int yes, float a, float b)
{
    union {
        float f;
        int i;
    } one = {a}, other = {b};
    one.i = (one.i & -yes) | (other.i & ~-yes);
    return one.f;
}

static inline float between_0_and_1(float v)
{
    return choose(v > 1, 1, choose(v < 0, 0, v));
}

/* To hue, saturation and value (all 0 to 1), changed, and back.
 * http://www.cs.rit.edu/~ncs/color/t_convert.html */
VECTORIZE static void distort(float *restrict red, float *restrict green, float *restrict blue,
                              size_t n, float hue, float sat, float val)
{
    size_t i;
    for (i = 0; i < n; ++i) {
        float r = red[i], g = green[i], b = blue[i];
        float max = choose(r > g, choose(r > b, r, b), choose(g > b, g, b));
        float min = choose(r < g, choose(r < b, r, b), choose(g < b, g, b));
        float delta = max - min;
        float ahead = choose(r == max, g - b, choose(g == max, b - r, r - g));
        float sixths = choose(r == max, 0, choose(g == max, 2, 4))
                       + ahead / choose(delta == 0, 1, delta); // of grey any hue will do
        float h = (float)(choose(sixths < 0, sixths + 6, sixths) * (1 / 6.));
        float s = choose(max == 0, 0, delta) / choose(max == 0, 1, max) * sat, v = max * val;
        h = h + hue;
        h = choose(h > 1, h - 1, h);
        h = 6 * choose(h < 0, h + 1, h);
        int k = (int)h;
        k -= k > h;
        float f = h - (float)k, p = v * (1 - s), q = v * (1 - s * f), t = v * (1 - s * (1 - f));
        int grey = s == 0;
        red[i] = between_0_and_1(choose(
            grey, v, choose((k == 2) | (k == 3), p, choose(k == 1, q, choose(k == 4, t, v)))));
        green[i] = between_0_and_1(
            choose(grey | (k == 1) | (k == 2), v, choose(k == 0, t, choose(k == 3, q, p))));
        blue[i] = between_0_and_1(choose(grey | (k == 3) | (k == 4), v,
                                         choose((k == 0) | (k == 1), p, choose(k == 2, t, q))));
    }
}

void distort_image(image im, float hue, float sat, float val)
{
    assert(im.c == 3);
    size_t n = (size_t)im.w * (size_t)im.h;
    distort(im.data, plane_of(im, 1), plane_of(im, 2), n, hue, sat, val);
}

void random_distort_image(image im, float hue, float saturation, float exposure)
{
    float dhue = rand_uniform(-hue, hue);
    float dsat = rand_scale(saturation);
    float dexp = rand_scale(exposure);
    distort_image(im, dhue, dsat, dexp);
}
