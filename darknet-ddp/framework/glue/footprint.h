/* glue/footprint.h: computes how much memory training takes at the largest size of random=1. */
#ifndef DDP_GLUE_FOOTPRINT_H
#define DDP_GLUE_FOOTPRINT_H

#include "device/device.h"

struct network;

/* Measured use of one memory, from which ddp_footprint_bytes computes the use at another size of
 * pictures. Of host memory it is this process's use; of a GPU's, that of all processes. */
typedef struct ddp_footprint {
    int width, height; /* largest size that random= draws, in pixels; 0: it draws none */
    int images;        /* images of a mini-batch */
    double used;       /* bytes in use while each image has `pixels` pixels */
    double pixels;
    double per_pixel; /* bytes of layers that one more pixel of one image of a mini-batch takes */
    /* bytes that one more pixel of each loaded picture takes; loaded are the pictures of two steps,
     * and those that threads are loading; 0 on a GPU */
    double loaded_per_pixel;
} ddp_footprint;

/* Return 1 if training draws the size of net's pictures at random (random=1), and set *width and
 * *height to the largest size. Else return 0, and set neither. */
int ddp_footprint_largest(const struct network *net, int *width, int *height);

/* Measure the memory of net, which draws sizes, by resizing it to a larger size and back. Sets
 * *host for the host's memory, and *gpu for that of GPU d; if d is the host, to 0 bytes. pictures:
 * how many this rank loads for a step. Call while no sum is in flight. */
void ddp_footprint_measure(ddp_footprint *host, ddp_footprint *gpu, struct network *net,
                           ddp_device *d, size_t pictures);

/* Allocate the layers' memory for the largest size, by resizing net to that size and back. Later
 * resizes then neither allocate nor free memory of layers. Corrects *host and *gpu, which
 * ddp_footprint_measure has set, by what is now in use. Call while no sum is in flight. */
void ddp_footprint_take_largest(ddp_footprint *host, ddp_footprint *gpu, struct network *net,
                                ddp_device *d);

/* Return how many bytes are in use while net trains on pictures of width x height, in mini-batches
 * of `images`. */
double ddp_footprint_bytes(const ddp_footprint *f, int width, int height, int images);

#endif
