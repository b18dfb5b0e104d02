/* watch/blocked_file.h: the file that this process waits for, as the kernel knows it.
 *
 * A file on a server that does not answer, or a FIFO that nobody writes, holds a thread in a system
 * call for ever, wherever in the program that is. /proc says in which call each thread is, and with
 * which arguments.
 */
#ifndef DDP_WATCH_BLOCKED_FILE_H
#define DDP_WATCH_BLOCKED_FILE_H

#include <stddef.h>

/* The path that another thread of this process opens, reads, writes, looks up or locks right now,
 * as it names it, into out, always ended; of several one. Devices are none. Empty: there is none,
 * or this system does not say. */
void ddp_blocked_file(char *out, size_t size);

#endif
