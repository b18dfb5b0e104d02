/* layers/images/pixels.h: loops over the pixels of pictures. A picture has a plane of floats for
 * each channel, row by row. Results have the same bits on every CPU, whatever the compiler's
 * options: each operation is computed as IEEE 754 says, in the order in which it is written. */
#ifndef PIXELS_H
#define PIXELS_H
#include "darknet.h"

/* A pixel of a canvas, made of two pixels of a picture's row (or column). Its value is (1 - weight)
 * times pixel `first` plus weight times pixel `second`. first is -1 for a pixel of the canvas
 * outside of the picture. */
typedef struct {
    int first, second;
    float weight;
} pixel_pair;

/* Return the pixel pairs of a canvas's columns begin to begin + count - 1. The caller frees the
 * array. For rows, read height and top for width and left.
 *   corner   column of the canvas at which the picture's left side lies; may be negative
 *   size     columns of the canvas that the picture is scaled to
 *   pixels   width of the picture
 *   mirror   1: mirror the picture */
pixel_pair *pixels_find_pairs(int begin, int count, int corner, int size, int pixels, int mirror);

/* Compute pixels out[0..n) of a canvas's row from the picture's row `from`. columns[i]: pixel pair
 * of out[i]; no index lies outside of the row. */
void pixels_interpolate_row(const float *from, const pixel_pair *columns, int n, float *out);

/* Write (1 - weight)*one[i] + weight*other[i] to out[i], for n values. */
void pixels_mix_rows(const float *one, const float *other, float weight, int n, float *out);

/* Return the mean of plane[0..n); 0 if n is 0. */
float pixels_mean(const float *plane, size_t n);

/* Convert n pixels of c bytes each to c planes of n floats from 0 to 1: byte*(1/255.). */
void pixels_from_bytes(const unsigned char *bytes, size_t n, int c, float *planes);

/* pixels.c has place_image, resize_image, flip_image and crop_image of image.h, too;
 * turn.c rotate_crop_image, colours.c distort_image and random_distort_image. */

#endif
