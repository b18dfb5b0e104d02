/* check/picture.h: is a file a picture that Darknet can load? By its first and last bytes. */
#ifndef DDP_CHECK_PICTURE_H
#define DDP_CHECK_PICTURE_H

#include "check/faults.h"

#include <stddef.h>

/* Return the orientation, 1 to 8, that Exif data of `size` bytes say; 1 if none. */
typedef int (*ddp_exif_reader)(const unsigned char *exif, size_t size);

typedef struct ddp_picture_header {
    int width, height; /* pixels, as viewers show it; 0: it is not fit */
    int turned;        /* 1: by its Exif data */
} ddp_picture_header;

/* Check a picture's header, and its end, if its kind says what must stand there. Returns 1 if it is
 * fit. Adds a fault to *f if it cannot be read, is empty or cut off. Adds one, too, if Darknet
 * cannot load its kind. place: where its path is listed, "FILE:LINE". exif: NULL: the size is as it
 * is stored. Of a PNG only Exif data before the pixels count. *header is all 0 if the picture is
 * not fit. Its sides are 1 for kinds whose size is not read. */
int ddp_check_picture(ddp_faults *f, const char *path, const char *place, ddp_exif_reader exif,
                      ddp_picture_header *header);

#endif
