#ifndef PIXELS_H
#define PIXELS_H
#include "darknet.h"

/* Loops over a picture's pixels. They compute as IEEE 754 says, one operation after the other as it
   is written, whatever the rest is compiled with. So the bits are the same on CPUs of any maker,
   and with vectors of any length. A picture has planes of floats, one a channel, row by row. */

/* A point between two neighbours of a line of pixels: its value is (1 - weight) of one and weight
 * of the other. */
typedef struct {
    int first, second;
    float weight;
} between;

/* Return between which of a picture's pixels each column from begin to begin + count - 1 of a
   canvas lies; or each row. The picture's side has `pixels` pixels, which are scaled to size and
   begin at corner. With mirror, it is turned round. A column outside of the picture has a `first`
   of -1. The caller frees the result. */
between *pixels_find_between(int begin, int count, int corner, int size, int pixels, int mirror);

/* A row as it is at columns: n values to out. from: a row of the picture. No column lies outside of
 * it. */
void pixels_between(const float *from, const between *columns, int n, float *out);

/* (1 - weight) of one row and weight of another. */
void pixels_mix_rows(const float *one, const float *other, float weight, int n, float *out);

/* The mean of a plane of n values, 0 where there are none. */
float pixels_mean(const float *plane, size_t n);

/* n pixels of c bytes each, 0 to 255, to c planes of values from 0 to 1, v*(1/255.) each. */
void pixels_from_bytes(const unsigned char *bytes, size_t n, int c, float *planes);

/* rotate_crop_image, place_image, resize_image, flip_image, crop_image and distort_image of image.h
 * and random_distort_image of darknet.h are here, too. */

#endif
