/* samples/picture_loader.h: loads pictures for validation, prediction and thumbnails. If one cannot
 * be read, the caller gets the reason, and the program goes on. */
#ifndef DDP_SAMPLES_PICTURE_LOADER_H
#define DDP_SAMPLES_PICTURE_LOADER_H

#include <darknet.h>

#include <pthread.h>

enum { DDP_PICTURE_WHY = 1024 };

/* Return a new image of the size of net's input, made from the picture `whole`, which stays as it
 * is. The caller frees the new image (free_image). */
typedef image (*ddp_picture_fit)(network *net, image whole);

typedef struct ddp_picture {
    image whole; /* the picture in its own size, turned by Exif as viewers show it */
    /* the picture as ddp_picture_fit made it from `whole`, of the size of the network's input */
    image fitted;
    char why[DDP_PICTURE_WHY]; /* sentence on why the picture cannot be read; "": it was read */
} ddp_picture;

/* A loader. Its fields belong to picture_loader.c. */
typedef struct ddp_picture_loader {
    network *net;
    const char *path;
    ddp_picture_fit fit;
    ddp_picture picture;
    pthread_t thread;
} ddp_picture_loader;

/* Read the picture at path to *out, with 3 channels in its own size, and return 1, with why "". The
 * caller frees *out (free_image). If it cannot be read, return 0, with a sentence in why, and leave
 * *out as it is. */
int ddp_picture_read(image *out, const char *path, char why[DDP_PICTURE_WHY]);

/* Begin to load the picture at path, and to fit it to net's input, in a thread of its own. A loader
 * loads one picture at a time. Until ddp_picture_loader_end, *l and path must stay where they are,
 * and net must keep its size. If no thread can be created, the program ends. */
void ddp_picture_loader_begin(ddp_picture_loader *l, network *net, const char *path,
                              ddp_picture_fit fit);

/* Wait for the picture of ddp_picture_loader_begin, and return it. If it cannot be read, both
 * images are empty. Release it with ddp_picture_release. */
ddp_picture ddp_picture_loader_end(ddp_picture_loader *l);

/* Free both images of *p. */
void ddp_picture_release(ddp_picture *p);

#endif
