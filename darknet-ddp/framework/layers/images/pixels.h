/* layers/images/pixels.h: loops over a picture's pixels. They compute as IEEE 754 says, one
 * operation after the other as it is written, with whatever options the rest is compiled. So the
 * bits are the same on each maker's CPU, and with vectors of any length. A picture has planes of
 * floats, one a channel, row by row. */
#ifndef PIXELS_H
#define PIXELS_H
#include "darknet.h"

/* Where one pixel of a canvas lies in a row (or column) of a picture. Its value is (1 - weight)
 * times pixel `first` plus weight times pixel `second`. If first is -1, it lies outside. */
typedef struct {
    int first, second;
    float weight;
} between;

/* Return for each of `count` columns (or rows) of a canvas, from number `begin` on, between which
 * pixels of a picture it lies. The picture's side of `pixels` pixels is scaled to `size`
 * columns of the canvas, from column `corner` on, which may be negative. mirror: 1: the picture is
 * mirrored. The caller frees the result. */
between *pixels_find_between(int begin, int count, int corner, int size, int pixels, int mirror);

/* Write the values of a picture's row `from` at n columns, none outside of the picture, to out. */
void pixels_between(const float *from, const between *columns, int n, float *out);

/* Write (1 - weight)*one[i] + weight*other[i] to out[i], for n values. */
void pixels_mix_rows(const float *one, const float *other, float weight, int n, float *out);

/* Return the mean of plane[0..n); 0 if n is 0. */
float pixels_mean(const float *plane, size_t n);

/* Convert n pixels of c bytes each to c planes of n floats from 0 to 1: v*(1/255.). */
void pixels_from_bytes(const unsigned char *bytes, size_t n, int c, float *planes);

/* rotate_crop_image, place_image, resize_image, flip_image, crop_image and distort_image of image.h
 * and random_distort_image of darknet.h are here, too. */

#endif
