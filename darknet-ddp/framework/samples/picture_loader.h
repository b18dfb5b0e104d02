/* samples/picture_loader.h: a picture that is looked at, not trained on: where it cannot be read,
 * that is told, and the program goes on.
 */
#ifndef DDP_SAMPLES_PICTURE_LOADER_H
#define DDP_SAMPLES_PICTURE_LOADER_H

#include <darknet.h>

#include <pthread.h>

enum { DDP_PICTURE_WHY = 1024 };

/* The picture in the size of the network's input, as Darknet's fit_image does it. */
typedef image (*ddp_picture_fit)(network *net, image whole);

typedef struct ddp_picture {
    image whole;               /* as it is in the file */
    image fitted;              /* to the network's input */
    char why[DDP_PICTURE_WHY]; /* it cannot be read; empty: it is there */
} ddp_picture;

typedef struct ddp_picture_loader {
    network *net;
    const char *path;
    ddp_picture_fit fit;
    ddp_picture picture;
    pthread_t thread;
} ddp_picture_loader;

/* Read the file path. Returns 0 and sets why where it cannot be read. The caller frees *out. */
int ddp_picture_read(image *out, const char *path, char why[DDP_PICTURE_WHY]);

/* Begin to load path, fitted to net, in a thread of its own. Until ddp_picture_loader_end path and
 * l must live, l at its place, and net keep its size. One picture at a time. */
void ddp_picture_loader_begin(ddp_picture_loader *l, network *net, const char *path,
                              ddp_picture_fit fit);

/* Wait for it. The caller releases it. */
ddp_picture ddp_picture_loader_end(ddp_picture_loader *l);
void ddp_picture_release(ddp_picture *p);

#endif
