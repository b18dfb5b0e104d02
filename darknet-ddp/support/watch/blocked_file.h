/* watch/blocked_file.h: finds the file that blocks this process.
 *
 * A file on a server that does not answer, or a FIFO that nobody writes, can block a thread in a
 * system call for ever. /proc says in which call each thread is, and with which arguments. */
#ifndef DDP_WATCH_BLOCKED_FILE_H
#define DDP_WATCH_BLOCKED_FILE_H

#include <stddef.h>

/* Write to out, of `size` bytes, the path of a file for which another thread of this process waits
 * in a system call such as open, read or flock. If there are several, writes one. Writes "" if
 * there is none, or /proc does not tell. None in /dev, /proc or /sys counts. Ended by a zero. */
void ddp_blocked_file(char *out, size_t size);

#endif
