/* cli/ask.h: this program as a child, and what it says. */
#ifndef DDP_CLI_ASK_H
#define DDP_CLI_ASK_H

#include <stddef.h>
#include <sys/types.h>

/* Start this program with args (args[0] is its name, NULL after the last). *out: where to read all
 * that it prints; the caller closes it. Returns the process; -1: it cannot be started. */
pid_t ddp_ask_start(const char *const *args, int *out);

/* Wait for it. Its exit status; -1: it had none. */
int ddp_ask_end(pid_t child);

/* Both, with the last size - 1 bytes at most of what it has printed in text. */
int ddp_ask(const char *const *args, char *text, size_t size);

/* The last line in text, which loses its newline and the indented ones behind it, which say more of
 * it. */
char *ddp_ask_last_line(char *text);

#endif
