#include "layers/images/detection_data.h"
#include "data.h"
#include "image.h"
#include "layers/images/augment.h"
#include "utils.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_CUT .2f      // least share of a mosaic's side for each picture
#define BACKGROUND_BLUR 17 // pixels, where objects stay sharp
#define SMALLEST_BOX 1.f   // pixels of the network's input

/* The boxes that a sample shows: five numbers each, in fractions of the whole input. */
typedef struct {
    float *truth;
    int n, most;
    size_t sample; /* its number */
} truths;

/* Where a sample shows one picture: part of it, of a canvas of the input's size, at to of the
 * input. */
typedef struct {
    area part;
    int to_x, to_y;
} window;

static float between_edges(float v, int low, int high)
{
    return v < low ? (float)low : v > high ? (float)high : v;
}

/* Where a fraction of a picture lies that has size pixels from begin on, shifted. */
static float in_input(float at, int size, int begin, int shift)
{
    return at * (float)size + (float)begin + (float)shift;
}

/* In pixels of the input, cut to what the window shows. */
static int box_in_window(box_label b, placement p, window at, box *out)
{
    int shift_x = at.to_x - at.part.x, shift_y = at.to_y - at.part.y;
    float left = in_input(p.flip ? 1 - b.right : b.left, p.w, p.x, shift_x);
    float right = in_input(p.flip ? 1 - b.left : b.right, p.w, p.x, shift_x);
    float top = in_input(b.top, p.h, p.y, shift_y), bottom = in_input(b.bottom, p.h, p.y, shift_y);
    left = between_edges(left, at.to_x, at.to_x + at.part.w);
    right = between_edges(right, at.to_x, at.to_x + at.part.w);
    top = between_edges(top, at.to_y, at.to_y + at.part.h);
    bottom = between_edges(bottom, at.to_y, at.to_y + at.part.h);
    out->x = (left + right) / 2;
    out->y = (top + bottom) / 2;
    out->w = right - left;
    out->h = bottom - top;
    return out->w >= SMALLEST_BOX && out->h >= SMALLEST_BOX;
}

/* Returns the first of them that it added. Not with a CPU's own estimate of a reciprocal, as -Ofast
 * divides four numbers. */
__attribute__((optimize("no-unsafe-math-optimizations"))) static int
add_truths(truths *t, load_args a, char *path, placement p, window at)
{
    int i, count, first = t->n;
    box_label *labels = read_labels(path, a.classes, &count);
    randomize_boxes(labels, count);
    for (i = 0; i < count && t->n < t->most; ++i) {
        box b;
        if (labels[i].x == 0 && labels[i].y == 0)
            continue; // a class without a place
        if (!box_in_window(labels[i], p, at, &b))
            continue;
        float *out = t->truth + 5 * t->n++;
        out[0] = b.x / (float)a.w;
        out[1] = b.y / (float)a.h;
        out[2] = b.w / (float)a.w;
        out[3] = b.h / (float)a.h;
        out[4] = (float)labels[i].id;
        train_truth(t->sample, t->n - 1, path, labels[i].line);
    }
    free(labels);
    return first;
}

static void copy_rows(image from, int x, int y, int w, int h, image to, int to_x, int to_y)
{
    int c, row;
    for (c = 0; c < from.c; ++c) {
        for (row = 0; row < h; ++row) {
            size_t out = (size_t)c * (size_t)to.h + (size_t)to_y + (size_t)row;
            size_t in = (size_t)c * (size_t)from.h + (size_t)y + (size_t)row;
            memcpy(to.data + out * (size_t)to.w + to_x, from.data + in * (size_t)from.w + x,
                   (size_t)w * sizeof(float));
        }
    }
}

/* No wider than an eighth of the smallest box. */
static int limit_blur(load_args a, const truths *t, int first, int size)
{
    int i;
    for (i = first; i < t->n; ++i) {
        float w = t->truth[5 * i + 2] * (float)a.w, h = t->truth[5 * i + 3] * (float)a.h;
        float side = w < h ? w : h;
        if (side / 8 < size)
            size = (int)(side / 8);
    }
    return size;
}

/* A third of the pictures stays sharp, a third is blurred but for the objects, and a third as a
 * whole. */
static void blur_part(load_args a, image im, const truths *t, int first, window at)
{
    int i, how = rand_int(0, 2);
    int size =
        a.rules.blur > 1 && how == 2 ? limit_blur(a, t, first, a.rules.blur) : BACKGROUND_BLUR;
    if (how == 0 || size < 2)
        return;
    image sharp = copy_image(im);
    blur_image(im, size / 2 * 2 + 1);
    for (i = first; i < t->n && (how == 1 || a.rules.blur == 1); ++i) {
        const float *b = t->truth + 5 * i;
        float left = (b[0] - b[2] / 2) * (float)a.w - (float)at.to_x;
        int x = constrain_int((int)left, 0, im.w);
        float top = (b[1] - b[3] / 2) * (float)a.h - (float)at.to_y;
        int y = constrain_int((int)top, 0, im.h);
        int w = constrain_int((int)(b[2] * (float)a.w), 0, im.w - x);
        int h = constrain_int((int)(b[3] * (float)a.h), 0, im.h - y);
        copy_rows(sharp, x, y, w, h, im, x, y);
    }
    free_image(sharp);
}

/* One picture, changed as the cfg asks, where it is in the sample. */
static image load_part(load_args a, char *path, placement p, image im, window at, truths *t)
{
    image part = place_part(im, p, at.part, a.rules.letter_box);
    int first = add_truths(t, a, path, p, at);
    random_distort_image(part, a.hue, a.saturation, a.exposure);
    if (a.rules.blur)
        blur_part(a, part, t, first, at);
    if (a.rules.gaussian_noise && draw() % 2)
        add_noise(part, a.rules.gaussian_noise);
    return part;
}

static placement draw_placement(load_args a, image im, int corner)
{
    if (a.rules.letter_box)
        return draw_letter_box(im, a.w, a.h, a.jitter, !a.rules.no_flip);
    return draw_crop(im, a.w, a.h, a.jitter, a.rules.resize, !a.rules.no_flip, corner);
}

static image load_whole(load_args a, char *path, truths *t)
{
    window all = {{0, 0, a.w, a.h}, 0, 0};
    image im = load_image_color(path, 0, 0);
    image whole = load_part(a, path, draw_placement(a, im, 0), im, all, t);
    free_image(im);
    return whole;
}

static char *draw_path(load_args a)
{
    return a.paths[train_instead((size_t)(draw() % a.m), (size_t)a.m)];
}

static image load_mixed(load_args a, char *path, truths *t)
{
    size_t i;
    image one = load_whole(a, path, t);
    image other = load_whole(a, draw_path(a), t);
    for (i = 0; i < (size_t)one.w * (size_t)one.h * (size_t)one.c; ++i)
        one.data[i] = (one.data[i] + other.data[i]) / 2;
    free_image(other);
    return one;
}

static int part_of(int side, float share)
{
    return (int)((float)side * share);
}

static int at_most(int v, int most)
{
    return v < most ? v : most;
}

/* The part of a picture's canvas that lies in a corner of a mosaic cut at x, y: from the opposite
   corner of the canvas, but without what the picture leaves empty there. corner: bit 0 right, bit 1
   bottom. */
static window mosaic_window(load_args a, placement p, int corner, int x, int y)
{
    window at;
    int left = p.x > 0 ? p.x : 0, right = a.w - p.x - p.w > 0 ? a.w - p.x - p.w : 0;
    int top = p.y > 0 ? p.y : 0, bottom = a.h - p.y - p.h > 0 ? a.h - p.y - p.h : 0;
    int at_right = corner & 1, at_bottom = corner & 2;
    at.part.w = at_right ? a.w - x : x;
    at.part.h = at_bottom ? a.h - y : y;
    at.part.x = at_right ? at_most(left, x) : a.w - x - at_most(right, a.w - x);
    at.part.y = at_bottom ? at_most(top, y) : a.h - y - at_most(bottom, a.h - y);
    at.to_x = at_right ? x : 0;
    at.to_y = at_bottom ? y : 0;
    return at;
}

/* Four pictures, the sample's own and three that are drawn, about a cut that is drawn too. */
static image load_mosaic(load_args a, char *path, truths *t)
{
    int corner;
    int x = rand_int(part_of(a.w, LEAST_CUT), part_of(a.w, 1 - LEAST_CUT));
    int y = rand_int(part_of(a.h, LEAST_CUT), part_of(a.h, 1 - LEAST_CUT));
    image sample = make_image(a.w, a.h, 3);
    for (corner = 0; corner < 4; ++corner) {
        image im = load_image_color(path, 0, 0);
        placement p = draw_placement(a, im, 1 + corner);
        window at = mosaic_window(a, p, corner, x, y);
        image part = load_part(a, path, p, im, at, t);
        copy_rows(part, 0, 0, part.w, part.h, sample, at.to_x, at.to_y);
        free_image(part);
        free_image(im);
        path = draw_path(a);
    }
    return sample;
}

data load_data_forks(load_args a, char **paths)
{
    int i;
    data d = {0};
    d.X.rows = a.n;
    d.X.cols = a.h * a.w * 3;
    d.X.vals = calloc((size_t)a.n, sizeof(float *));
    d.y = make_matrix(a.n, 5 * a.num_boxes);
    for (i = 0; i < a.n; ++i) {
        truths t = {d.y.vals[i], 0, a.num_boxes, a.first + (size_t)i};
        draw_for(DRAW_SAMPLE, 0, a.first + (size_t)i);
        int mixes = (a.rules.mosaic || a.rules.mixup) && draw() % 2; // every second sample
        image sample = !mixes           ? load_whole(a, paths[i], &t)
                       : a.rules.mosaic ? load_mosaic(a, paths[i], &t)
                                        : load_mixed(a, paths[i], &t);
        d.X.vals[i] = sample.data;
    }
    return d;
}
