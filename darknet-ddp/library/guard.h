/* library/guard.h: calls Darknet's code, and returns an error where Darknet would end the program,
 * as it does when it refuses a file. */
#ifndef DDP_LIBRARY_GUARD_H
#define DDP_LIBRARY_GUARD_H

#include <stddef.h>

/* Call work(ctx) on this thread, and return 0. Returns -1 if Darknet would end the program in it.
 * Then Darknet's message is in error[0..size), without a newline; the memory that work allocated on
 * this thread is freed, and its files are closed. Waits while another thread is in this function.
 * work must not call it. */
int ddp_guard_run(void (*work)(void *ctx), void *ctx, char *error, size_t size);

/* Begin a list of the memory that this thread allocates and the files that it opens. The linker
 * replaces malloc and its like by functions of memory_guard.c, which add to the list (--wrap). */
void ddp_memory_guard_begin(void);
/* End the list of ddp_memory_guard_begin. The memory on it stays allocated, the files stay open. */
void ddp_memory_guard_keep(void);
/* End the list of ddp_memory_guard_begin. Free the memory and close the files that are on it. */
void ddp_memory_guard_drop(void);

#endif
