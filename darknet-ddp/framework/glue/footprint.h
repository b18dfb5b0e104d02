/* glue/footprint.h: computes how much memory training takes at the largest size of random=1. */
#ifndef DDP_GLUE_FOOTPRINT_H
#define DDP_GLUE_FOOTPRINT_H

#include "device/device.h"

struct network;

/* Measured use of one memory: the host's (this process's use) or a GPU's (that of all processes).
 * ddp_footprint_bytes computes from it the use at another size of pictures. */
typedef struct ddp_footprint {
    int width, height; /* largest size that random= draws, in pixels; 0: it draws none */
    int images;        /* images of a mini-batch */
    double used;       /* measured bytes in use, with images of `pixels` pixels each */
    double pixels;     /* width times height at which `used` was measured */
    double per_pixel;  /* bytes of layers for one more pixel in one image of a mini-batch */
    /* bytes of all pictures loaded in advance, divided by the pixels of one picture; 0 on a GPU */
    double loaded_per_pixel;
} ddp_footprint;

/* Return 1 if the cfg has random=1, to draw sizes of pictures at random, and set *width and *height
 * to the largest size, in pixels. Else return 0, and leave both as they are. */
int ddp_footprint_largest(const struct network *net, int *width, int *height);

/* Measure how much memory net takes, by resizing it to a larger size and back; if it cannot be
 * resized, Darknet ends the program. Sets *host for the host's memory and *gpu for GPU d's (0 bytes
 * if d is the host). Call while no sum is in flight. pictures: how many this rank loads a step. */
void ddp_footprint_measure(ddp_footprint *host, ddp_footprint *gpu, struct network *net,
                           ddp_device *d, size_t pictures);

/* Resize net, which must draw sizes, to its largest, host->width x host->height, and back. Later
 * resizes then neither allocate nor free memory of layers. If that size is larger than at the
 * measurement, sets `used` and `pixels` of *host and *gpu for it. Call after ddp_footprint_measure,
 * while no sum is in flight. */
void ddp_footprint_take_largest(ddp_footprint *host, ddp_footprint *gpu, struct network *net,
                                ddp_device *d);

/* Return how many bytes of f's memory are in use while net trains on pictures of width x height
 * pixels, in mini-batches of `images`. */
double ddp_footprint_bytes(const ddp_footprint *f, int width, int height, int images);

#endif
