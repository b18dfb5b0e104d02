/* glue/footprint.h: how much memory training takes at the largest size that random= draws. */
#ifndef DDP_GLUE_FOOTPRINT_H
#define DDP_GLUE_FOOTPRINT_H

#include "device/device.h"

struct network;

/* Measured memory, from which to compute what another size of pictures takes: of the host, this
 * process's; of a GPU, all processes'. Darknet allocates all that a size needs when it resizes. */
typedef struct ddp_footprint {
    int width, height; /* largest size that random= draws, in pixels; 0: it draws none */
    int images;        /* images of a mini-batch */
    double used;       /* bytes allocated for pictures of `pixels` */
    double pixels;     /* pixels of the network's own size, or of the largest if that is taken */
    double per_pixel;  /* bytes that one more pixel of one image of a mini-batch takes */
    double samples; /* bytes by which the pictures loaded for two steps, and those in threads that
                       load, grow if each gets one more pixel; 0 on a GPU */
} ddp_footprint;

/* Return 1 if the size of net's pictures is drawn at random in training, and write the largest to
 * *width and *height; else 0, and both stay. */
int ddp_footprint_largest(const struct network *net, int *width, int *height);

/* Measure the memory of net, which draws sizes, by resizing it to a larger size and back. *host
 * tells what host memory net takes, *gpu what memory of GPU d: 0 bytes if d is the host. This rank
 * loads `pictures` pictures for a step. Only while no sum is in flight. */
void ddp_footprint_measure(ddp_footprint *host, ddp_footprint *gpu, struct network *net,
                           ddp_device *d, size_t pictures);

/* Take memory for the largest size once: resize net to it and back, and write to all its arrays.
 * No later resize takes or frees memory of layers. Corrects *host and *gpu, as
 * ddp_footprint_measure has filled them, by what is then allocated. Only while no sum is in flight.
 */
void ddp_footprint_take(ddp_footprint *host, ddp_footprint *gpu, struct network *net,
                        ddp_device *d);

/* Return how many bytes are allocated while pictures of width x height are trained on, in
 * mini-batches of `images`. */
double ddp_footprint_bytes(const ddp_footprint *f, int width, int height, int images);

#endif
