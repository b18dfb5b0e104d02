/* layers/catch_fatal.h: runs code of Darknet that may call fatal(), so that the program does not
 * end, and the caller gets fatal()'s message. */
#ifndef CATCH_FATAL_H
#define CATCH_FATAL_H

#include <stddef.h>

/* Call work(ctx) on this thread, and return 1. If Darknet calls fatal() on this thread meanwhile,
 * write the message to why[0..size), leave `work` at once, and return 0. Memory and files that
 * `work` has not given back are then lost. Calls may be nested. */
int catch_fatal(void (*work)(void *ctx), void *ctx, char *why, size_t size);

#endif
