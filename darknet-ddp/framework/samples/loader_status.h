/* samples/loader_status.h: which pictures this process's threads are loading, for when one of them
 * hangs.
 *
 * A thread says which picture it is about to read, and when it has loaded the sample. Of all
 * functions any thread may call any.
 */
#ifndef DDP_SAMPLES_LOADER_STATUS_H
#define DDP_SAMPLES_LOADER_STATUS_H

#include <stddef.h>

/* The calling thread draws a sample, and what it reads from here on is for that. */
void ddp_loading_begin(void);

/* It is about to read this picture, and then, maybe, its labels. Nothing happens where it loads no
 * sample, or more than 64 do. */
void ddp_loading_reads(const char *path);

/* The sample is loaded. */
void ddp_loading_end(void);

/* "a loader has been at images/a.png, or its labels, for 5 s" into out, of the one that has been at
 * it for longest; nothing where that is less than a second. */
void ddp_loading_describe(char *out, size_t size);

#endif
