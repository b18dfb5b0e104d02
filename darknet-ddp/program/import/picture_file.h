/* import/picture_file.h: how large a picture file is, and how a camera says it is to be turned. */
#ifndef DDP_IMPORT_PICTURE_FILE_H
#define DDP_IMPORT_PICTURE_FILE_H

#include "import/annotations.h"

typedef struct ddp_picture_file {
    int width, height; /* pixels, as viewers show it; 1 for kinds whose size is not read */
    int orientation;   /* 1 to 8: Exif's, by which viewers have turned it */
} ddp_picture_file;

/* Read the header of a picture. Returns 0 if Darknet could not load the file. */
int ddp_picture_file_look(ddp_picture_file *p, const char *path);

/* Set the picture's size to that of its file, if its source says none. */
void ddp_picture_size_if_unknown(ddp_annotated_picture *p);

/* Turn the box of a picture that lies as it is stored into that of the picture as viewers show it.
 */
void ddp_box_turn(ddp_annotated_box *b, int orientation);

#endif
