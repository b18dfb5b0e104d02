/* predict/source.h: finds the pictures and films that a command's words name. */
#ifndef DDP_PREDICT_SOURCE_H
#define DDP_PREDICT_SOURCE_H

#include "base/status.h"

#include <stddef.h>

/* The pictures and films of a command. Begin with all zeros. */
typedef struct ddp_source {
    char **paths; /* pictures and films, in the order in which they are named */
    size_t count, room;
    int is_one_file; /* 1: the command names one picture or film, and no list or folder */
} ddp_source;

/* Add the pictures and films that words[0..count) name. Release *s in any case. A word is
 *  - a folder: its pictures and films are added, sorted by name, but none of inner folders
 *  - a list (.txt or .list) with a path in each line
 *  - else a picture or film, which is added whether the file exists or not
 *
 * Fails with DDP_ERR_IO (a list or folder cannot be read), DDP_ERR_FORMAT (nothing is in it, or a
 * list has a byte 0), DDP_ERR_NOMEM. */
ddp_status ddp_source_read(ddp_source *s, char *const *words, int count,
                           ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if the name of the file has the ending of a film, such as .mp4; else 0. */
int ddp_source_is_film(const char *path);

/* Free the paths, and make *s all zero. */
void ddp_source_release(ddp_source *s);

#endif
