/* check/picture.h: is a file a picture that Darknet can load? From its first and last bytes. */
#ifndef DDP_CHECK_PICTURE_H
#define DDP_CHECK_PICTURE_H

#include "check/faults.h"

/* Look at a picture's header, and at its end, where its kind says what must stand there. Faults
 * are added to *f: it cannot be read, is empty, of a kind that Darknet cannot load, or cut off.
 * place: where the path stands, "FILE:LINE". *width, *height: in pixels; 0 where the header does
 * not tell. Returns whether it is fit. */
int ddp_check_picture(ddp_faults *f, const char *path, const char *place, int *width, int *height);

#endif
