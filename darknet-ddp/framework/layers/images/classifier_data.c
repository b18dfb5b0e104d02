#include "layers/images/classifier_data.h"
#include "data.h"
#include "image.h"
#include "layers/images/augment.h"
#include "utils.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_CUT .2f   // least share of a mosaic's side for each picture
#define LEAST_PATCH .3f // to MOST_PATCH: share of a side that cutmix replaces
#define MOST_PATCH .8f
#define PLAIN_BLUR 17 // pixels where blur=1

int mixes_classes(picture_rules r)
{
    return r.mosaic || r.mixup || r.cutmix || r.blur || r.gaussian_noise || r.label_smooth_eps
           || r.no_flip;
}

static image load_crop(load_args a, char *path)
{
    image im = load_image_color(path, 0, 0);
    image crop = a.center
                     ? center_crop_image(im, a.size, a.size)
                     : random_augment_image(im, a.angle, a.aspect, a.min, a.max, a.size, a.size);
    if (!a.rules.no_flip && draw() % 2)
        flip_image(crop);
    random_distort_image(crop, a.hue, a.saturation, a.exposure);
    if (a.rules.blur && draw() % 2)
        blur_image(crop, a.rules.blur == 1 ? PLAIN_BLUR : a.rules.blur / 2 * 2 + 1);
    if (a.rules.gaussian_noise && draw() % 2)
        add_noise(crop, a.rules.gaussian_noise);
    free_image(im);
    return crop;
}

/* truth += share of what the picture shows */
static void add_classes(load_args a, char *path, float share, float *truth)
{
    int i;
    float *own = calloc((size_t)a.classes, sizeof(float));
    fill_truth(path, a.labels, a.classes, own);
    if (a.hierarchy)
        fill_hierarchy(own, a.classes, a.hierarchy);
    for (i = 0; i < a.classes; ++i)
        truth[i] += share * own[i];
    free(own);
}

/* Another picture in an area of the sample, from the same area of its own. */
static void replace_area(load_args a, image sample, area part, char *path)
{
    int c, y;
    image other = load_crop(a, path);
    for (c = 0; c < sample.c; ++c) {
        for (y = part.y; y < part.y + part.h; ++y) {
            size_t row = (size_t)c * (size_t)sample.h + (size_t)y;
            size_t at = row * (size_t)sample.w + (size_t)part.x;
            memcpy(sample.data + at, other.data + at, (size_t)part.w * sizeof(float));
        }
    }
    free_image(other);
}

static float share_of(image sample, area part)
{
    return (float)part.w * (float)part.h / ((float)sample.w * (float)sample.h);
}

static void mix_up(load_args a, image sample, char *path, char *other_path, float *truth)
{
    size_t i;
    image other = load_crop(a, other_path);
    for (i = 0; i < (size_t)sample.w * (size_t)sample.h * (size_t)sample.c; ++i)
        sample.data[i] = (sample.data[i] + other.data[i]) / 2;
    free_image(other);
    add_classes(a, path, .5, truth);
    add_classes(a, other_path, .5, truth);
}

static int part_of(int side, float share)
{
    return (int)((float)side * share);
}

static void cut_mix(load_args a, image sample, char *path, char *other_path, float *truth)
{
    area part;
    part.w = rand_int(part_of(sample.w, LEAST_PATCH), part_of(sample.w, MOST_PATCH));
    part.h = rand_int(part_of(sample.h, LEAST_PATCH), part_of(sample.h, MOST_PATCH));
    part.x = rand_int(0, sample.w - part.w);
    part.y = rand_int(0, sample.h - part.h);
    replace_area(a, sample, part, other_path);
    add_classes(a, path, 1 - share_of(sample, part), truth);
    add_classes(a, other_path, share_of(sample, part), truth);
}

/* The sample's own picture stays in the left top corner. */
static void make_mosaic(load_args a, image sample, char *path, float *truth)
{
    int corner;
    int x = rand_int(part_of(sample.w, LEAST_CUT), part_of(sample.w, 1 - LEAST_CUT));
    int y = rand_int(part_of(sample.h, LEAST_CUT), part_of(sample.h, 1 - LEAST_CUT));
    for (corner = 0; corner < 4; ++corner) {
        area part = {corner & 1 ? x : 0, corner & 2 ? y : 0, corner & 1 ? sample.w - x : x,
                     corner & 2 ? sample.h - y : y};
        if (corner) {
            path = a.paths[train_instead((size_t)(draw() % a.m), (size_t)a.m)];
            replace_area(a, sample, part, path);
        }
        add_classes(a, path, share_of(sample, part), truth);
    }
}

/* Half of the samples are mixed, by one of the ways that the cfg has. */
static void mix(load_args a, image sample, char *path, float *truth)
{
    picture_rules r = a.rules;
    if (!(r.mosaic || r.mixup || r.cutmix) || draw() % 2) {
        add_classes(a, path, 1, truth);
    } else if (r.mosaic && !(r.cutmix && draw() % 2)) {
        make_mosaic(a, sample, path, truth);
    } else {
        char *other = a.paths[train_instead((size_t)(draw() % a.m), (size_t)a.m)];
        if (r.cutmix)
            cut_mix(a, sample, path, other, truth);
        else
            mix_up(a, sample, path, other, truth);
    }
}

data load_classes_forks(load_args a, char **paths)
{
    int i, k;
    float eps = a.rules.label_smooth_eps;
    data d = {0};
    d.w = d.h = a.size;
    d.X.rows = a.n;
    d.X.cols = a.size * a.size * 3;
    d.X.vals = calloc((size_t)a.n, sizeof(float *));
    d.y = make_matrix(a.n, a.classes);
    for (i = 0; i < a.n; ++i) {
        float *truth = d.y.vals[i];
        draw_for(DRAW_SAMPLE, 0, a.first + (size_t)i);
        image sample = load_crop(a, paths[i]);
        mix(a, sample, paths[i], truth);
        for (k = 0; k < a.classes && eps; ++k)
            truth[k] = truth[k] * (1 - eps) + eps / (float)a.classes;
        d.X.vals[i] = sample.data;
    }
    return d;
}
