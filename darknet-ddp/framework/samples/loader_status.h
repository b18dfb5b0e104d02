/* samples/loader_status.h: notes which pictures threads are loading, for a message if one of them
 * hangs. Any thread may call any function. */
#ifndef DDP_SAMPLES_LOADER_STATUS_H
#define DDP_SAMPLES_LOADER_STATUS_H

#include <stddef.h>

/* Note that the calling thread begins to load a sample. The pictures that it reads from now on are
 * for that sample. */
void ddp_loading_begin(void);

/* Note that the calling thread is about to read the picture at path, and later maybe its labels.
 * path is copied. Does nothing if it loads no sample, or 64 other threads do. */
void ddp_loading_reads(const char *path);

/* Note that the calling thread has loaded its sample. */
void ddp_loading_end(void);

/* Write to out which picture a thread has been at for longest: "a loader has been at images/a.png,
 * or its labels, for 5 s". Writes "" if that is less than a second. */
void ddp_loading_describe(char *out, size_t size);

#endif
