/* layers/images/augment.h: augments pictures for training: crops, flips, blur, noise, as the cfg
 * keys of Darknet's forks ask. A canvas, on which a picture lies, has the size of the network's
 * input. All random numbers come from draw(). */
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

/* Draw a random crop of picture im, which is stretched to a canvas of w x h pixels.
 *   jitter     move each side of the crop in or out by up to this fraction of the picture's side
 *   resize     then enlarge or shrink the picture by up to this factor; below 1: only shrink it, by
 *              up to 1/resize
 *   use_flip   1: mirror half of the pictures
 *   corner     in half of the draws, show a corner of the picture in this corner of the canvas:
 *              1 left top, 2 right top, 3 left bottom, 4 right bottom; 0: in no draw */
placement draw_crop(image im, int w, int h, float jitter, float resize, int use_flip, int corner);

/* Draw a random place for picture im on a canvas of w x h pixels. It is scaled to the canvas's
 * height if it is higher than wide, else to its width. On a canvas that is not square it may jut
 * out.
 *   jitter     first change the picture's width and height by up to this fraction
 *   use_flip   1: mirror half of the pictures */
placement draw_letter_box(image im, int w, int h, float jitter, int use_flip);

/* Return the part of a canvas on which picture im lies at p. The caller frees it (free_image).
 * Pixels outside of im get its mean colour, or .5 if `grey` is 1. */
image place_part(image im, placement p, area part, int grey);

/* Blur im in place with a Gaussian kernel of size x size pixels. `size` is odd. */
void blur_image(image im, int size);

/* Add Gaussian noise of deviation width/255 to each value of im, and limit it to 0 to 1. */
void add_noise(image im, float width);

#endif
