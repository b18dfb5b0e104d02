/* layers/images/augment.h: augments pictures for training: crops, flips, blur, noise, as the cfg
 * keys of Darknet's forks ask. A picture is placed on a canvas, the network's input. All random
 * numbers come from draw(). */
#ifndef AUGMENT_H
#define AUGMENT_H
#include "darknet.h"

/* How a picture lies on a canvas. It is scaled to w x h pixels, and mirrored if flip is 1. Its left
 * top corner is at x, y, which may be outside of the canvas. */
typedef struct {
    int x, y, w, h;
    int flip;
} placement;

/* A rectangle of pixels: left top corner, width, height. */
typedef struct {
    int x, y, w, h;
} area;

/* Draw a random crop of picture im for a canvas of w x h pixels. Move each side in or out by up to
 * `jitter` (a fraction of the picture's side). Enlarge or shrink by up to `resize` times (below 1:
 * only shrink, by up to 1/resize). Stretch the result to the canvas. `use_flip`: 1 mirrors half of
 * the pictures. `corner`: 0, or 1 to 4 for a corner of the canvas (bit 0 of corner - 1: right, bit
 * 1: bottom). In half of the draws that corner shows the picture's own corner, uncut. */
placement draw_crop(image im, int w, int h, float jitter, float resize, int use_flip, int corner);

/* Draw a random place for picture im on a canvas of w x h pixels. First its width and height change
 * by up to `jitter` (a fraction). Then it is scaled to the canvas's width if it is wider than high,
 * else to its height. On a canvas that is not square it may jut out. `use_flip`: 1 mirrors half of
 * them. */
placement draw_letter_box(image im, int w, int h, float jitter, int use_flip);

/* Return the part of a canvas that shows picture im, placed at p; the caller frees it (free_image).
 * Pixels outside of im get its mean colour, or .5 if `grey` is 1. */
image place_part(image im, placement p, area part, int grey);

/* Blur im in place with a Gaussian kernel of size x size pixels. `size` is odd. */
void blur_image(image im, int size);

/* Add Gaussian noise to each value of im, and limit it to 0 to 1. `width`: standard deviation, in
 * units of 1/255. */
void add_noise(image im, float width);

#endif
