/* layers/catch_fatal.h: runs Darknet's code, which ends the program where it refuses a file, so
 * that the caller gets the sentence instead. */
#ifndef CATCH_FATAL_H
#define CATCH_FATAL_H

#include <stddef.h>

/* Call work(ctx) on this thread. Returns 1 if it returned. Returns 0 if Darknet called fatal() on
 * this thread: why[0..size) has the sentence then, and work did not go on, so what it has allocated
 * and opened is left. Calls may be nested. */
int catch_fatal(void (*work)(void *ctx), void *ctx, char *why, size_t size);

#endif
