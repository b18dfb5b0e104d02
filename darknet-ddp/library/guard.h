/* library/guard.h: runs Darknet's code such that a refusal (of a file, say), which would end the
 * program, gives back its sentence instead. */
#ifndef DDP_LIBRARY_GUARD_H
#define DDP_LIBRARY_GUARD_H

#include <stddef.h>

/* Call work(ctx) on this thread. Returns 0, or -1 if Darknet refused. Then error[0..size) has its
 * sentence, without a newline, and what this thread has allocated and opened in work is freed and
 * closed. Blocks while another thread is in this function, since Darknet reads files by global
 * variables. work must not call this function. */
int ddp_guard_run(void (*work)(void *ctx), void *ctx, char *error, size_t size);

/* Begin to note what this thread allocates and opens. End the notes by one of the next two
 * functions: _keep only ends them, _drop also frees and closes all that they name. The linker
 * replaces malloc and its like by functions of memory_guard.c (--wrap), which note. */
void ddp_memory_guard_begin(void);
void ddp_memory_guard_keep(void);
void ddp_memory_guard_drop(void);

#endif
