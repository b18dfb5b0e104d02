/* layers/catch_fatal.h: runs code of Darknet that may call fatal(), so that the program does not
 * end, and the caller gets fatal()'s message. */
#ifndef CATCH_FATAL_H
#define CATCH_FATAL_H

#include <stddef.h>

/* Call work(ctx) on this thread, and return 1. If it calls fatal(), leave `work` at once, write the
 * message to why[0..size), and return 0. Memory and files that `work` holds are then lost, and
 * its locks stay locked. Calls may be nested; fatal() of other threads is not caught. */
int catch_fatal(void (*work)(void *ctx), void *ctx, char *why, size_t size);

#endif
