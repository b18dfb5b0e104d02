/* library/guard.h: runs Darknet's code, which ends the program where it refuses a file, so that it
 * gives its sentence back instead. */
#ifndef DDP_LIBRARY_GUARD_H
#define DDP_LIBRARY_GUARD_H

#include <stddef.h>

/* Call work(ctx) on this thread. Returns 0, or -1 if Darknet refused. Then error[0..size) has its
 * sentence, without a newline, and what this thread has allocated and opened in work is freed and
 * closed. Blocks while another thread is in it, since Darknet reads files by global variables. work
 * must not call it. */
int ddp_guard_run(void (*work)(void *ctx), void *ctx, char *error, size_t size);

/* Begin to note what this thread allocates and opens. Then call one of the others: _keep ends the
 * notes alone. _drop ends them, and frees and closes all that they name. The linker replaces malloc
 * and its like by functions of memory_guard.c (--wrap), which note. */
void ddp_memory_guard_begin(void);
void ddp_memory_guard_keep(void);
void ddp_memory_guard_drop(void);

#endif
