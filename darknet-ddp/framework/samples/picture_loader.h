/* samples/picture_loader.h: pictures to look at, not to train on. If one cannot be read, that is
 * told, and the program goes on. */
#ifndef DDP_SAMPLES_PICTURE_LOADER_H
#define DDP_SAMPLES_PICTURE_LOADER_H

#include <darknet.h>

#include <pthread.h>

enum { DDP_PICTURE_WHY = 1024 };

/* Return the picture in the size of the network's input, as Darknet's fit_image does. */
typedef image (*ddp_picture_fit)(network *net, image whole);

typedef struct ddp_picture {
    image whole;               /* the picture as it is in the file */
    image fitted;              /* fitted to the network's input */
    char why[DDP_PICTURE_WHY]; /* why it cannot be read; "": it is there */
} ddp_picture;

typedef struct ddp_picture_loader {
    network *net;
    const char *path;
    ddp_picture_fit fit;
    ddp_picture picture;
    pthread_t thread;
} ddp_picture_loader;

/* Read the picture at path. Returns 0 and sets why if it cannot be read. The caller frees *out. */
int ddp_picture_read(image *out, const char *path, char why[DDP_PICTURE_WHY]);

/* Begin to load the picture at path, and fit it to net, in a thread of its own. Until
 * ddp_picture_loader_end, path and *l must stay where they are, and net must keep its size. One
 * picture at a time. */
void ddp_picture_loader_begin(ddp_picture_loader *l, network *net, const char *path,
                              ddp_picture_fit fit);

/* Wait for the picture. The caller releases it. */
ddp_picture ddp_picture_loader_end(ddp_picture_loader *l);
void ddp_picture_release(ddp_picture *p);

#endif
