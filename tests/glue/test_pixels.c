/* ddp-test: quick */
/* The vectorised loops over pixels, against their definitions, one pixel after the other, to the
 * last bit: what a picture becomes does not depend on the length of a CPU's vectors. */
#include <darknet.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../unit/numbers.h"
#include "image.h"
#include "layers/images/augment.h"
#include "layers/images/pixels.h"

enum { ROUNDS = 60, MOST = 70 };

/* ---- pictures ---- */

static uint32_t state = 1;

static uint32_t next(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static int between_ints(int low, int high)
{
    return low + (int)(next() % (uint32_t)(high - low + 1));
}

static float between_floats(float low, float high)
{
    return low + (high - low) * (float)next() / (float)(1 << 24);
}

/* Values of bytes, with black, white and grey pixels among them. */
static image make_picture(int w, int h)
{
    image im = make_image(w, h, 3);
    int n = w * h;

    for (int i = 0; i < n; i++) {
        int kind = between_ints(0, 9);

        for (int c = 0; c < 3; c++) {
            int v = kind == 0 ? 0 : kind == 1 ? 255 : between_ints(0, 255);

            im.data[c * n + i] = (float)v / 255.F;
        }
        if (kind == 2)
            im.data[n + i] = im.data[2 * n + i] = im.data[i];
        if (kind == 3)
            im.data[n + i] = im.data[i];
    }
    return im;
}

static image some_picture(void)
{
    return make_picture(between_ints(1, MOST), between_ints(1, MOST));
}

static float *place(image im, int x, int y, int c)
{
    return im.data + ((size_t)c * (size_t)im.h + (size_t)y) * (size_t)im.w + (size_t)x;
}

static float pixel(image im, int x, int y, int c)
{
    return *place(im, x, y, c);
}

static float pixel_or_0(image im, int x, int y, int c)
{
    return x < 0 || y < 0 || x >= im.w || y >= im.h ? 0 : pixel(im, x, y, c);
}

static void expect_same(image got, image want, const char *what)
{
    assert_int_equal(got.w, want.w);
    assert_int_equal(got.h, want.h);
    for (int c = 0; c < want.c; c++) {
        for (int y = 0; y < want.h; y++) {
            for (int x = 0; x < want.w; x++) {
                float a = pixel(got, x, y, c), b = pixel(want, x, y, c);

                if (memcmp(&a, &b, sizeof a) != 0)
                    fail_msg("%s: pixel %d,%d of channel %d of %d x %d is %.9g, not %.9g", what, x,
                             y, c, want.w, want.h, (double)a, (double)b);
            }
        }
    }
    free_image(got);
    free_image(want);
}

/* ---- definitions ---- */

/* x, y and c of each value of im. */
#define FOR_EACH_PIXEL(im)                                                                         \
    for (int c = 0; c < (im).c; c++)                                                               \
        for (int y = 0; y < (im).h; y++)                                                           \
            for (int x = 0; x < (im).w; x++)

static image defined_place(image im, int w, int h, int dx, int dy, image canvas)
{
    float step_x = (float)im.w * (1.F / (float)w), step_y = (float)im.h * (1.F / (float)h);
    image out = copy_image(canvas);

    FOR_EACH_PIXEL(out)
    {
        float rx = (float)(x - dx) * step_x, ry = (float)(y - dy) * step_y;
        int ix, iy;
        float right, down;

        if (x < dx || y < dy || x - dx >= w || y - dy >= h)
            continue;
        ix = (int)rx;
        iy = (int)ry;
        right = rx - (float)ix;
        down = ry - (float)iy;
        *place(out, x, y, c) = (1 - right) * pixel_or_0(im, ix, iy, c) * (1 - down)
                               + pixel_or_0(im, ix, iy + 1, c) * (down * (1 - right))
                               + pixel_or_0(im, ix + 1, iy, c) * (right * (1 - down))
                               + pixel_or_0(im, ix + 1, iy + 1, c) * (right * down);
    }
    return out;
}

static image defined_rotation(image im, const augment_args *a)
{
    image out = make_image(a->w, a->h, im.c);
    double cosine = cos((double)a->rad), sine = sin((double)a->rad), scale = 1. / (double)a->scale;
    float across = a->dx / a->scale * a->aspect, down = a->dy / a->scale;
    float cx = (float)(im.w * .5), cy = (float)(im.h * .5);

    FOR_EACH_PIXEL(out)
    {
        double along = (x - a->w * .5) * (scale * (double)a->aspect) + (double)across;
        double from_middle = (a->h * .5 - y) * scale;
        float rx = (float)(cosine * along + (sine * (from_middle - (double)down) + (double)cx));
        float ry = (float)(sine * along + (cosine * ((double)down - from_middle) + (double)cy));
        int ix = (int)floorf(rx), iy = (int)floorf(ry);
        float dx = rx - (float)ix, dy = ry - (float)iy;

        *place(out, x, y, c) = (1 - dy) * (1 - dx) * pixel_or_0(im, ix, iy, c)
                               + dy * (1 - dx) * pixel_or_0(im, ix, iy + 1, c)
                               + (1 - dy) * dx * pixel_or_0(im, ix + 1, iy, c)
                               + dy * dx * pixel_or_0(im, ix + 1, iy + 1, c);
    }
    return out;
}

/* Return a pixel of a line that is stretched so that both ends stay. */
static float stretched(float a, float b, float far)
{
    return (1 - far) * a + far * b;
}

static float across(image im, int w, int x, int y, int c)
{
    float rx = (float)x * ((float)(im.w - 1) / (float)(w - 1));
    int ix;

    if (x == w - 1 || im.w == 1)
        return pixel(im, im.w - 1, y, c);
    ix = (int)rx;
    return stretched(pixel(im, ix, y, c), pixel(im, ix + 1, y, c), rx - (float)ix);
}

static image defined_resize(image im, int w, int h)
{
    image out = make_image(w, h, im.c);

    FOR_EACH_PIXEL(out)
    {
        float ry = h > 1 ? (float)y * ((float)(im.h - 1) / (float)(h - 1)) : 0;
        int iy = (int)ry;
        float down = ry - (float)iy;

        if (y == h - 1 || im.h == 1)
            *place(out, x, y, c) = (1 - down) * across(im, w, x, iy, c);
        else
            *place(out, x, y, c) =
                stretched(across(im, w, x, iy, c), across(im, w, x, iy + 1, c), down);
    }
    return out;
}

static int within(int v, int n)
{
    return v < 0 ? 0 : v >= n ? n - 1 : v;
}

static image defined_crop(image im, int dx, int dy, int w, int h)
{
    image out = make_image(w, h, im.c);

    FOR_EACH_PIXEL(out)
    *place(out, x, y, c) = pixel(im, within(x + dx, im.w), within(y + dy, im.h), c);
    return out;
}

static image mirrored(image im)
{
    image out = make_image(im.w, im.h, im.c);

    FOR_EACH_PIXEL(out)
    *place(out, x, y, c) = pixel(im, im.w - 1 - x, y, c);
    return out;
}

static float hue_of(float r, float g, float b, float max, float delta)
{
    float h;

    if (delta == 0)
        return 0;
    if (r == max)
        h = (g - b) / delta;
    else if (g == max)
        h = 2 + (b - r) / delta;
    else
        h = 4 + (r - g) / delta;
    if (h < 0)
        h += 6;
    return (float)((double)h * (1 / 6.));
}

static float limited(float v)
{
    return v < 0 ? 0 : v > 1 ? 1 : v;
}

static void from_hsv(float h, float s, float v, float *r, float *g, float *b)
{
    int index = (int)floorf(h);
    float f = h - (float)index;
    float p = v * (1 - s), q = v * (1 - s * f), t = v * (1 - s * (1 - f));
    const float of[6][3] = {{v, t, p}, {q, v, p}, {p, v, t}, {p, q, v}, {t, p, v}, {v, p, q}};
    const float *rgb = of[index < 0 || index > 5 ? 5 : index];

    *r = limited(s == 0 ? v : rgb[0]);
    *g = limited(s == 0 ? v : rgb[1]);
    *b = limited(s == 0 ? v : rgb[2]);
}

static image defined_distortion(image im, float hue, float sat, float val)
{
    image out = copy_image(im);
    int n = im.w * im.h;

    for (int i = 0; i < n; i++) {
        float r = im.data[i], g = im.data[n + i], b = im.data[2 * n + i];
        float max = fmaxf(fmaxf(r, g), b), delta = max - fminf(fminf(r, g), b);
        float h = hue_of(r, g, b, max, delta) + hue, s = max == 0 ? 0 : delta / max;

        if (h > 1)
            h -= 1;
        if (h < 0)
            h += 1;
        from_hsv(6 * h, s * sat, max * val, &out.data[i], &out.data[n + i], &out.data[2 * n + i]);
    }
    return out;
}

/* Where pixel `at` of a line of `size`, made of `pixels`, lies. */
static int source_of(int at, int size, int pixels, float *far)
{
    float x = ((float)at + .5F) * ((float)pixels * (1.F / (float)size)) - .5F;

    x = x < 0 ? 0 : x > (float)(pixels - 1) ? (float)(pixels - 1) : x;
    *far = x - (float)(int)x;
    return (int)x;
}

static float mean_of(image im, int c)
{
    double sum = 0;

    for (int y = 0; y < im.h; y++)
        for (int x = 0; x < im.w; x++)
            sum += (double)pixel(im, x, y, c);
    return (float)(sum * (1. / (im.w * im.h)));
}

static image defined_part(image im, placement p, area part, int grey)
{
    image out = make_image(part.w, part.h, im.c);

    FOR_EACH_PIXEL(out)
    {
        int at_x = part.x + x - p.x, at_y = part.y + y - p.y, ix, iy, jx, jy;
        float right, down, above, below;

        if (at_x < 0 || at_y < 0 || at_x >= p.w || at_y >= p.h) {
            *place(out, x, y, c) = grey ? .5F : mean_of(im, c);
            continue;
        }
        ix = source_of(p.flip ? p.w - 1 - at_x : at_x, p.w, im.w, &right);
        iy = source_of(at_y, p.h, im.h, &down);
        jx = ix + 1 < im.w ? ix + 1 : ix;
        jy = iy + 1 < im.h ? iy + 1 : iy;
        above = pixel(im, ix, iy, c) * (1 - right) + pixel(im, jx, iy, c) * right;
        below = pixel(im, ix, jy, c) * (1 - right) + pixel(im, jx, jy, c) * right;
        *place(out, x, y, c) = above * (1 - down) + below * down;
    }
    return out;
}

/* ---- tests ---- */

static void bytes_become_values_from_0_to_1(void **unused)
{
    unsigned char bytes[3 * 256 + 3];
    float planes[3 * 257];

    (void)unused;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7);
    for (int c = 1; c <= 3; c++) {
        pixels_from_bytes(bytes, 257, c, planes);
        for (int i = 0; i < 257 * c; i++) {
            float want = (float)(bytes[i] * (1 / 255.));

            assert_memory_equal(&planes[i % c * 257 + i / c], &want, sizeof want);
            assert_number_equal(want, (float)(bytes[i] / 255.));
        }
    }
}

static void placed_pictures(void **unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        image im = some_picture(), canvas = some_picture();
        int w = between_ints(1, MOST), h = between_ints(1, MOST);
        int dx = between_ints(-20, 20), dy = between_ints(-20, 20);
        image want = defined_place(im, w, h, dx, dy, canvas);

        place_image(im, w, h, dx, dy, canvas);
        expect_same(canvas, want, "place_image");
        free_image(im);
    }
}

static void turned_pictures(void **unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        image im = some_picture();
        augment_args a = {.w = between_ints(1, MOST),
                          .h = between_ints(1, MOST),
                          .scale = between_floats(.3F, 3),
                          .rad = between_floats(-1, 1),
                          .dx = between_floats(-30, 30),
                          .dy = between_floats(-30, 30),
                          .aspect = between_floats(.5F, 2)};

        if (i % 4 == 0)
            a.rad = 0;
        expect_same(rotate_crop_image(im, a.rad, a.scale, a.w, a.h, a.dx, a.dy, a.aspect),
                    defined_rotation(im, &a), "rotate_crop_image");
        free_image(im);
    }
}

static void resized_pictures(void **unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        image im = some_picture();
        int w = between_ints(1, 2 * MOST), h = between_ints(1, 2 * MOST);

        expect_same(resize_image(im, w, h), defined_resize(im, w, h), "resize_image");
        free_image(im);
    }
}

static void cropped_and_mirrored_pictures(void **unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        image im = some_picture();
        int dx = between_ints(-MOST, MOST), dy = between_ints(-MOST, MOST);
        int w = between_ints(1, MOST), h = between_ints(1, MOST);
        image want = mirrored(im);

        expect_same(crop_image(im, dx, dy, w, h), defined_crop(im, dx, dy, w, h), "crop_image");
        flip_image(im);
        expect_same(im, want, "flip_image");
    }
}

static void distorted_colours(void **unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        image im = some_picture();
        float hue = i % 5 ? between_floats(-.6F, .6F) : 0, sat = between_floats(.3F, 3);
        float val = i % 3 ? between_floats(.3F, 3) : 1;
        image want = defined_distortion(im, hue, sat, val);

        distort_image(im, hue, sat, val);
        expect_same(im, want, "distort_image");
    }
}

static void parts_of_canvases(void **unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        image im = some_picture();
        placement p = {.x = between_ints(-40, 40),
                       .y = between_ints(-40, 40),
                       .w = between_ints(1, 2 * MOST),
                       .h = between_ints(1, 2 * MOST),
                       .flip = i & 1};
        area part = {between_ints(0, 20), between_ints(0, 20), between_ints(1, MOST),
                     between_ints(1, MOST)};
        int grey = i % 3 == 0;

        expect_same(place_part(im, p, part, grey), defined_part(im, p, part, grey), "place_part");
        free_image(im);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_become_values_from_0_to_1),
        cmocka_unit_test(placed_pictures),
        cmocka_unit_test(turned_pictures),
        cmocka_unit_test(resized_pictures),
        cmocka_unit_test(cropped_and_mirrored_pictures),
        cmocka_unit_test(distorted_colours),
        cmocka_unit_test(parts_of_canvases),
    };

    return cmocka_run_group_tests_name("pixels", tests, NULL, NULL);
}
