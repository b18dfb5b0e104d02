#include "layers/images/augment.h"
#include "image.h"
#include "layers/images/pixels.h"
#include "utils.h"

#include <math.h>

#define LEAST_PART .05f // least share of a picture's side that a crop leaves

static void keep_some(float *low, float *high, float side)
{
    float left = side - *low - *high;
    if (left >= LEAST_PART * side)
        return;
    float middle = constrain(0, side, (*low + side - *high) / 2);
    *low = middle - LEAST_PART * side / 2;
    *high = side - middle - LEAST_PART * side / 2;
}

static void bring_to_corner(int corner, int flip, float *left, float *right, float *top,
                            float *bottom)
{
    int keep_right = (corner - 1) & 1; // the side that the neighbours do not touch
    if (flip)
        keep_right = !keep_right;
    if (keep_right) {
        *left += *right;
        *right = 0;
    } else {
        *right += *left;
        *left = 0;
    }
    if ((corner - 1) & 2) {
        *top += *bottom;
        *bottom = 0;
    } else {
        *bottom += *top;
        *top = 0;
    }
}

placement draw_crop(image im, int w, int h, float jitter, float resize, int use_flip, int corner)
{
    float dw = jitter * (float)im.w, dh = jitter * (float)im.h;
    float im_w = (float)im.w, im_h = (float)im.h;
    float most = resize < 1 ? resize : 1 / resize;
    float grow = (1 - 1 / most) / 2; // less than 0: the picture is made smaller
    float shrink = resize < 1 ? 0 : (1 - most) / 2;
    float first = rand_uniform(grow, shrink), second = rand_uniform(grow, shrink);
    float left = rand_uniform(-dw, dw) + first * im_w;
    float right = rand_uniform(-dw, dw) + second * im_w;
    float top = rand_uniform(-dh, dh) + first * im_h;
    float bottom = rand_uniform(-dh, dh) + second * im_h;
    placement p;
    p.flip = use_flip ? draw() % 2 : 0;
    if (corner && draw() % 2)
        bring_to_corner(corner, p.flip, &left, &right, &top, &bottom);
    keep_some(&left, &right, im_w);
    keep_some(&top, &bottom, im_h);
    float by_x = (float)w / (im_w - left - right), by_y = (float)h / (im_h - top - bottom);
    p.w = (int)lroundf(im_w * by_x);
    p.h = (int)lroundf(im_h * by_y);
    p.x = (int)lroundf(-left * by_x);
    p.y = (int)lroundf(-top * by_y);
    if (p.w < 1)
        p.w = 1;
    if (p.h < 1)
        p.h = 1;
    if (p.flip)
        p.x = w - p.x - p.w;
    return p;
}

placement draw_letter_box(image im, int w, int h, float jitter, int use_flip)
{
    float dw = jitter * (float)im.w, dh = jitter * (float)im.h;
    float aspect = ((float)im.w + rand_uniform(-dw, dw)) / ((float)im.h + rand_uniform(-dh, dh));
    float pw = aspect < 1 ? (float)h * aspect : (float)w;
    float ph = aspect < 1 ? (float)h : (float)w / aspect;
    placement p;
    p.x = (int)rand_uniform(0, (float)w - pw);
    p.y = (int)rand_uniform(0, (float)h - ph);
    p.w = (int)fmaxf(pw, 1);
    p.h = (int)fmaxf(ph, 1);
    p.flip = use_flip ? draw() % 2 : 0;
    if (p.flip)
        p.x = w - p.x - p.w;
    return p;
}

/* Return how many of count rows or columns lie in the picture, and set *first to the first of them.
 * They lie side by side. */
static int inside(const pixel_pair *b, int count, int *first)
{
    int n = 0;
    for (*first = 0; *first < count && b[*first].first < 0; ++*first)
        ;
    while (*first + n < count && b[*first + n].first >= 0)
        ++n;
    return n;
}

/* The picture's row as it is at columns, of the last two that were asked for. */
static const float *interpolated_row(const float *channel, int w, int row,
                                     const pixel_pair *columns, int n, int kept[2], float *rows)
{
    float *at = rows + (size_t)(row & 1) * (size_t)n;
    if (kept[row & 1] != row)
        pixels_interpolate_row(channel + (size_t)row * (size_t)w, columns, n, at);
    kept[row & 1] = row;
    return at;
}

static void fill(float *to, size_t n, float v)
{
    size_t i;
    for (i = 0; i < n; ++i)
        to[i] = v;
}

image place_part(image im, placement p, area part, int grey)
{
    int y, c, left, top;
    image out = make_image(part.w, part.h, im.c);
    pixel_pair *columns = pixels_find_pairs(part.x, part.w, p.x, p.w, im.w, p.flip);
    pixel_pair *rows = pixels_find_pairs(part.y, part.h, p.y, p.h, im.h, 0);
    int wide = inside(columns, part.w, &left), high = inside(rows, part.h, &top);
    float *kept_rows = calloc(2 * (size_t)wide, sizeof(float));
    for (c = 0; c < im.c; ++c) {
        const float *channel = im.data + (size_t)c * (size_t)im.w * (size_t)im.h;
        int kept[2] = {-1, -1};
        if (wide < part.w || high < part.h)
            fill(out.data + (size_t)c * (size_t)part.w * (size_t)part.h,
                 (size_t)part.w * (size_t)part.h,
                 grey ? .5f : pixels_mean(channel, (size_t)im.w * (size_t)im.h));
        for (y = top; y < top + high && wide; ++y) {
            pixel_pair r = rows[y];
            const float *one =
                interpolated_row(channel, im.w, r.first, columns + left, wide, kept, kept_rows);
            const float *other = r.second == r.first
                                     ? one
                                     : interpolated_row(channel, im.w, r.second, columns + left,
                                                        wide, kept, kept_rows);
            pixels_mix_rows(one, other, r.weight, wide,
                            out.data + ((size_t)c * (size_t)part.h + (size_t)y) * (size_t)part.w
                                + left);
        }
    }
    free(columns);
    free(rows);
    free(kept_rows);
    return out;
}

/* A line of n values, step apart; its ends go on as they are. */
static void blur_line(float *line, int n, size_t step, const float *bell, int size, float *copy)
{
    int i, k, half = size / 2;
    for (i = 0; i < n; ++i)
        copy[i] = line[(size_t)i * step];
    for (i = 0; i < n; ++i) {
        float sum = 0;
        for (k = -half; k <= half; ++k)
            sum += bell[k + half] * copy[constrain_int(i + k, 0, n - 1)];
        line[(size_t)i * step] = sum;
    }
}

void blur_image(image im, int size)
{
    int i, c;
    float width = .3f * ((float)(size - 1) * .5f - 1) + .8f, sum = 0;
    float *bell = calloc((size_t)size, sizeof(float));
    float *copy = calloc((size_t)(im.w > im.h ? im.w : im.h), sizeof(float));
    for (i = 0; i < size; ++i)
        sum += bell[i] = expf((float)(-(i - size / 2) * (i - size / 2)) / (2 * width * width));
    for (i = 0; i < size; ++i)
        bell[i] /= sum;
    for (c = 0; c < im.c; ++c) {
        float *channel = im.data + (size_t)c * (size_t)im.w * (size_t)im.h;
        for (i = 0; i < im.h; ++i)
            blur_line(channel + (size_t)i * (size_t)im.w, im.w, 1, bell, size, copy);
        for (i = 0; i < im.w; ++i)
            blur_line(channel + i, im.h, (size_t)im.w, bell, size, copy);
    }
    free(bell);
    free(copy);
}

void add_noise(image im, float width)
{
    size_t i, n = (size_t)im.w * (size_t)im.h * (size_t)im.c;
    for (i = 0; i < n; i += 2) {
        float even = ((float)draw() + 1.f) / ((float)RAND_MAX + 1.f);
        float far = sqrtf(-2 * logf(even)) * width / 255; // two normal numbers from two even ones
        float angle = rand_uniform(0, (float)(2 * M_PI));
        im.data[i] += far * cosf(angle);
        if (i + 1 < n)
            im.data[i + 1] += far * sinf(angle);
    }
    constrain_image(im);
}
