#ifndef AUGMENT_H
#define AUGMENT_H
#include "darknet.h"

/* Pictures changed for training as cfgs of the forks ask. All that is drawn comes from draw(). */

/* Where a picture comes to lie: scaled to w x h, mirrored if flip, its left top corner at x, y of a
 * canvas. */
typedef struct {
    int x, y, w, h;
    int flip;
} placement;

/* A rectangle of pixels. */
typedef struct {
    int x, y, w, h;
} area;

/* Cut up to jitter of a picture's sides off, or add as much. Make it up to resize times larger or
   smaller, and stretch what is left to w x h. If corner is 1 to 4, half the time one corner
   of the result stays uncut, and all of the cut is made at the two sides opposite to it. Bit 0 of
   corner - 1: this corner is on the right, else the left. Bit 1: it is at the bottom, else the
   top. */
placement draw_crop(image im, int w, int h, float jitter, float resize, int use_flip, int corner);

/* Another aspect by jitter, and all of it somewhere on w x h. */
placement draw_letter_box(image im, int w, int h, float jitter, int use_flip);

/* The part of a w x h canvas with the picture on it. What the picture does not cover has its mean
 * colour, or grey. */
image place_part(image im, placement p, area part, int grey);

/* Blur with a bell of so many pixels, an odd number. */
void blur_image(image im, int size);

/* Add to each value what is drawn from a bell of this width, in 255ths. */
void add_noise(image im, float width);

#endif
