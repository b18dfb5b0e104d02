/* import/picture_file.h: reads the size of a picture file, and how viewers turn it (Exif); turns
 * boxes likewise. One thread at a time may call these functions. */
#ifndef DDP_IMPORT_PICTURE_FILE_H
#define DDP_IMPORT_PICTURE_FILE_H

#include "import/annotations.h"

typedef struct ddp_picture_file {
    int width, height; /* pixels, as viewers show it; 1 x 1 for formats whose size is not read */
    int orientation;   /* Exif's, 1 to 8, by which viewers turn the picture; 1: not turned */
} ddp_picture_file;

/* Set *p from the header of the picture at path. Returns 1; 0, with a size of 0 x 0, if it cannot
 * be read, or its first or last bytes show that Darknet could not load it. */
int ddp_picture_file_look(ddp_picture_file *p, const char *path);

/* Set the picture's size to that of its file, if the source did not say it. The size becomes 0 if
 * there is no file, Darknet could not load it, or its format is one whose size is not read. */
void ddp_picture_size_if_unknown(ddp_annotated_picture *p);

/* Turn a box by Exif's orientation, 1 to 8, from the picture as stored to the picture as viewers
 * show it. */
void ddp_box_turn(ddp_annotated_box *b, int orientation);

#endif
