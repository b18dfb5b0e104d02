/* A folder of its own for one test. A failure ends the test program. */
#ifndef DDP_TESTS_UNIT_FOLDER_H
#define DDP_TESTS_UNIT_FOLDER_H

#include <stddef.h>

enum { FOLDER_PATHS = 8 };

struct folder {
    char path[64];
    char *given[FOLDER_PATHS]; /* paths that folder_file returned last */
    int next;
};

void folder_open(struct folder *f);

/* Remove the folder and the files in it. */
void folder_close(struct folder *f);

/* Make a folder and enter it: relative paths are in it until it is left, which removes all that is
 * in it. One at a time. */
void folder_enter(void);
void folder_leave(void);

/* Return the path of a file in the folder; good until FOLDER_PATHS more were asked for. */
const char *folder_file(struct folder *f, const char *name);

/* Write the names of the folder's files, sorted, with a blank between two, to out. */
void folder_list(const struct folder *f, char *out, size_t size);

/* Make a file of these bytes at path. */
void folder_write(const char *path, const void *bytes, size_t size);

/* Return the bytes of a file, which the caller frees. */
void *folder_read(const char *path, size_t *size);

#endif
