/* samples/picture_loader.h: loads pictures for other uses than training. If one cannot be read, the
 * caller learns why, and the program goes on. */
#ifndef DDP_SAMPLES_PICTURE_LOADER_H
#define DDP_SAMPLES_PICTURE_LOADER_H

#include <darknet.h>

#include <pthread.h>

enum { DDP_PICTURE_WHY = 1024 };

/* Return a new image: the picture in the size of net's input, as Darknet's fit_image makes it. */
typedef image (*ddp_picture_fit)(network *net, image whole);

typedef struct ddp_picture {
    image whole;               /* the picture in its own size, turned by Exif as viewers show it */
    image fitted;              /* fitted to the network's input */
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

/* Read the picture at path, as 3 channels in its own size, to *out, which the caller frees
 * (free_image), and return 1. why is then "". If it cannot be read, return 0, with a sentence in
 * why; *out stays.
 */
int ddp_picture_read(image *out, const char *path, char why[DDP_PICTURE_WHY]);

/* Begin to load the picture at path, and fit it to net, in a thread of its own. Until
 * ddp_picture_loader_end, path and *l must stay where they are, and net must keep its size. A
 * loader loads one picture at a time. If no thread can be created, the program ends. */
void ddp_picture_loader_begin(ddp_picture_loader *l, network *net, const char *path,
                              ddp_picture_fit fit);

/* Wait for the picture of ddp_picture_loader_begin, and return it. If its why is not "", both
 * images are empty. The caller releases it. */
ddp_picture ddp_picture_loader_end(ddp_picture_loader *l);
/* Free both images of *p. */
void ddp_picture_release(ddp_picture *p);

#endif
