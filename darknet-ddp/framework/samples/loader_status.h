/* samples/loader_status.h: remembers which pictures loader threads are reading, for a message if
 * one of them hangs. Any thread may call any function. */
#ifndef DDP_SAMPLES_LOADER_STATUS_H
#define DDP_SAMPLES_LOADER_STATUS_H

#include <stddef.h>

/* Note that the calling thread begins to load a sample. */
void ddp_loading_begin(void);

/* Note that the calling thread is about to read the picture at path, and perhaps its labels. path
 * is copied. Does nothing if the thread loads no sample, or if 64 others are reading already. */
void ddp_loading_reads(const char *path);

/* Note that the calling thread has loaded its sample. */
void ddp_loading_end(void);

/* Write a phrase about the picture that a thread has been reading for longest to out[0..size): "a
 * loader has been at images/a.png, or its labels, for 5 s". Writes "" below 1 s. */
void ddp_loading_describe(char *out, size_t size);

#endif
