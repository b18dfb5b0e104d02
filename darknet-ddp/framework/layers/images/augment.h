/* layers/images/augment.h: changes pictures for training by the keys of Darknet's forks. All random
 * numbers come from draw(). Pictures are placed on a canvas, which a network gets. */
#ifndef AUGMENT_H
#define AUGMENT_H
#include "darknet.h"

/* Where a picture lies on a canvas: scaled to w x h pixels, mirrored if flip is 1, its left top
 * corner at x, y, which may be outside. */
typedef struct {
    int x, y, w, h;
    int flip;
} placement;

/* A rectangle of pixels: left top corner, width, height. */
typedef struct {
    int x, y, w, h;
} area;

/* Draw where picture im lies on a w x h canvas. Cut off up to `jitter` (a fraction) of its width
 * and height at each side, or add as much. Make it up to `resize` times larger or smaller (below 1:
 * only smaller, up to 1/resize times), and stretch the result to the canvas. `use_flip`: 1 mirrors
 * half of the pictures. `corner`: 0, or 1 to 4 for a corner of the canvas (bit 0 of corner - 1:
 * right, bit 1: bottom). Half the time that corner shows the picture's own corner, uncut. */
placement draw_crop(image im, int w, int h, float jitter, float resize, int use_flip, int corner);

/* Draw where picture im lies on a w x h canvas. First its width and height change by up to `jitter`
 * (a fraction). Then it becomes as wide as the canvas if it is wider than high, else as high, at a
 * random place. On a canvas that is not square it may jut out. `use_flip`: 1 mirrors half of the
 * pictures. */
placement draw_letter_box(image im, int w, int h, float jitter, int use_flip);

/* Return what `part` of the canvas shows of picture im, placed at p; the caller frees it
 * (free_image). Where im does not reach, the result has im's mean colour, or .5 if `grey` is 1. */
image place_part(image im, placement p, area part, int grey);

/* Blur im in place with a Gaussian of `size` pixels, an odd number. */
void blur_image(image im, int size);

/* Add Gaussian noise to each value of im; values stay within 0 to 1. width: the noise's deviation
 * in 255ths. */
void add_noise(image im, float width);

#endif
