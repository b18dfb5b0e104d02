/* watch/blocked_file.h: the file that this process waits for, as the kernel knows it.
 *
 * A file on a server that does not answer, or a FIFO that nobody writes, holds a thread in a system
 * call for ever. /proc says in which call each thread is, and with which arguments. */
#ifndef DDP_WATCH_BLOCKED_FILE_H
#define DDP_WATCH_BLOCKED_FILE_H

#include <stddef.h>

/* Write to out, of `size` bytes, the path of a file that another thread of this process waits for.
 * The thread opens, reads, writes, looks up or locks it by this name. Always ended by a zero. If
 * there are several, one of them. Devices do not count. "": none, or this system does not say. */
void ddp_blocked_file(char *out, size_t size);

#endif
