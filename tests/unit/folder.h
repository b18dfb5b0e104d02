/* A folder of its own for one test. A failure ends the test program. */
#ifndef DDP_TESTS_UNIT_FOLDER_H
#define DDP_TESTS_UNIT_FOLDER_H

#include <stddef.h>

enum { FOLDER_PATHS = 8 };

struct folder {
    char path[64];
    char *given[FOLDER_PATHS]; /* what folder_file returned last */
    int next;
};

void folder_open(struct folder *f);

/* Remove it with the files in it. */
void folder_close(struct folder *f);

/* The same, entered: relative paths are in it until it is left, which removes all that is in it.
 * One at a time. */
void folder_enter(void);
void folder_leave(void);

/* The path of a file in it; good until FOLDER_PATHS more were asked for. */
const char *folder_file(struct folder *f, const char *name);

/* The names in it, sorted, with a blank between two. */
void folder_list(const struct folder *f, char *out, size_t size);

/* Make path a file of these bytes. */
void folder_write(const char *path, const void *bytes, size_t size);

/* The bytes of a file, the caller's to free. */
void *folder_read(const char *path, size_t *size);

#endif
