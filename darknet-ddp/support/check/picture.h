/* check/picture.h: checks by a file's header and last bytes that it is a picture that Darknet can
 * load. Reads the size, too, of most kinds. */
#ifndef DDP_CHECK_PICTURE_H
#define DDP_CHECK_PICTURE_H

#include "check/faults.h"

#include <stddef.h>

/* Returns the orientation, 1 to 8, in `size` bytes of Exif data, without a JPEG's "Exif\0\0" before
 * them; 1 if they have none. */
typedef int (*ddp_exif_reader)(const unsigned char *exif, size_t size);

typedef struct ddp_picture_header {
    /* size in pixels, turned as viewers show the picture; 1 x 1: the size of this kind is not
     * read */
    int width, height;
    int turned; /* 1: its Exif data make viewers turn or mirror it */
} ddp_picture_header;

/* Return 1 if the picture at path is fit, by its first and last bytes. Else returns 0, and adds a
 * fault to *f: it cannot be read, is empty, broken or cut off, or Darknet cannot load its kind.
 *   place    where its path is listed, "FILE:LINE", for the fault
 *   exif     reads Exif data; NULL: they are ignored
 *   header   becomes all 0 if the picture is not fit */
int ddp_check_picture(ddp_faults *f, const char *path, const char *place, ddp_exif_reader exif,
                      ddp_picture_header *header);

#endif
