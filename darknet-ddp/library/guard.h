/* library/guard.h: Darknet's code, which ends the program where it refuses a file, run so that it
 * gives its sentence back instead. */
#ifndef DDP_LIBRARY_GUARD_H
#define DDP_LIBRARY_GUARD_H

#include <stddef.h>

/* Call work(ctx) on this thread. Returns 0, or -1 if Darknet refused: then error[0..size) has its
 * sentence, and all memory that work allocated and all files that it opened are freed and closed.
 * One thread at a time runs; others wait, since Darknet reads files by global variables. Not to be
 * called by work. */
int ddp_guard_run(void (*work)(void *ctx), void *ctx, char *error, size_t size);

/* Begin to note what this thread allocates and opens; end, and keep it; or end, and free it. By
 * memory_guard.c, by whose functions the linker replaces malloc and its like (--wrap). */
void ddp_memory_guard_begin(void);
void ddp_memory_guard_keep(void);
void ddp_memory_guard_drop(void);

#endif
