/* check/picture.h: is a file a picture that Darknet can load? By its first and last bytes. */
#ifndef DDP_CHECK_PICTURE_H
#define DDP_CHECK_PICTURE_H

#include "check/faults.h"

/* Check a picture's header, and its end, if its kind says what must stand there. Returns 1 if it is
 * fit. Adds faults to *f: it cannot be read, is empty, of a kind that Darknet cannot load, or cut
 * off. place: where its path is listed, "FILE:LINE". *width, *height: in pixels; 0 if it is not
 * fit, 1 for kinds whose size is not read. */
int ddp_check_picture(ddp_faults *f, const char *path, const char *place, int *width, int *height);

#endif
