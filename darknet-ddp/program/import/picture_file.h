/* import/picture_file.h: reads how large a picture file is, and how its camera says to turn it. One
 * thread at a time may call these. */
#ifndef DDP_IMPORT_PICTURE_FILE_H
#define DDP_IMPORT_PICTURE_FILE_H

#include "import/annotations.h"

typedef struct ddp_picture_file {
    int width, height; /* pixels, as viewers show it; 1 x 1 for kinds whose size is not read */
    int orientation;   /* Exif's orientation, 1 to 8, by which viewers turn the picture; 1: none */
} ddp_picture_file;

/* Set *p from the header of a picture, and return 1. Returns 0 if Darknet could not load it. */
int ddp_picture_file_look(ddp_picture_file *p, const char *path);

/* Set the picture's size to that of its file, if its source says none; to 0 if there is no file, or
 * Darknet could not load it. */
void ddp_picture_size_if_unknown(ddp_annotated_picture *p);

/* Turn a box of the picture as it is stored, so that it fits the picture as viewers show it.
 * orientation: Exif's, 1 to 8. */
void ddp_box_turn(ddp_annotated_box *b, int orientation);

#endif
