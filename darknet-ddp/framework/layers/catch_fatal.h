/* layers/catch_fatal.h: runs code of Darknet that may call fatal(), so that the program does not
 * end, and the caller gets fatal()'s message. */
#ifndef CATCH_FATAL_H
#define CATCH_FATAL_H

#include <stddef.h>

/* Call work(ctx), and return 1. If it calls fatal() on this thread, not on another, leave `work` at
 * once, write the message to why[0..size), and return 0. Memory and files that it holds are then
 * lost, its locks stay locked, and globals that it changed stay so. Calls may be nested. */
int catch_fatal(void (*work)(void *ctx), void *ctx, char *why, size_t size);

#endif
