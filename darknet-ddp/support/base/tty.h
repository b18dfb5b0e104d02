/* base/tty.h: terminals, as far as a line that renews itself concerns them. */
#ifndef DDP_BASE_TTY_H
#define DDP_BASE_TTY_H

/* Erases the row that the cursor is in, where a line stands, and what of it went on below. */
#define DDP_TTY_ERASE "\r\033[J"

/* Is fd a terminal that knows DDP_TTY_ERASE? May be called from a handler of signals. */
int ddp_tty_erases(int fd);

/* Are both the same terminal, of that kind? */
int ddp_tty_is_one(int a, int b);

#endif
