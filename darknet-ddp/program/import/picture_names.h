/* import/picture_names.h: names for the files of imported pictures, which lie in one folder. No two
 * have one stem (the name without its ending), since label files are named by it. */
#ifndef DDP_IMPORT_PICTURE_NAMES_H
#define DDP_IMPORT_PICTURE_NAMES_H

#include "import/annotations.h"

/* Return how many characters of a picture's name stand before its ending. */
size_t ddp_picture_stem(const char *name);

/* Return a name for each picture of a: its file's name, or NULL if it has no path. If several have
 * one stem, the names of their folders are added to all of these. If some still have one stem, all
 * but the first of them are numbered. Returns NULL without memory. Free the result by
 * ddp_picture_names_free. */
char **ddp_picture_names(const ddp_annotations *a);
void ddp_picture_names_free(char **names, const ddp_annotations *a); /* frees names, if not NULL */

#endif
