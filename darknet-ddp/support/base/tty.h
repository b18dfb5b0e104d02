/* base/tty.h: finds terminals on which text can be erased, to renew a status line. */
#ifndef DDP_BASE_TTY_H
#define DDP_BASE_TTY_H

/* Text that, written to a terminal, erases the row that the cursor is in and all rows below. */
#define DDP_TTY_ERASE "\r\033[J"

/* Return 1 if fd is a terminal that knows DDP_TTY_ERASE. May be called from a signal handler. */
int ddp_tty_erases(int fd);

/* Return 1 if the descriptors a and b are the same terminal, and it knows DDP_TTY_ERASE. */
int ddp_tty_is_one(int a, int b);

#endif
