/* cli/ask.h: runs this program as a child process, and reads what it prints. */
#ifndef DDP_CLI_ASK_H
#define DDP_CLI_ASK_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* Start this program with args; args[0] is its name, NULL ends them. Set *out to a stream of all
 * that it prints, which the caller closes. Returns the child's process number, for ddp_ask_end;
 * -1: no process can be made, errno says why, and nothing is to be closed. */
pid_t ddp_ask_start(const char *const *args, FILE **out);

/* Wait until the child of ddp_ask_start ends. Read its stream to the end before, or it may never
 * end. Returns its exit status; -1: a signal ended it, or it cannot be waited for. */
int ddp_ask_end(pid_t child);

/* Run this program with args (args[0]: its name; NULL last) until it ends. Write the end of what it
 * prints, size - 1 bytes at most, to text. Returns its exit status; -1 if a signal ended it.
 * Returns -1 also if no process can be made; text then says why. */
int ddp_ask(const char *const *args, char *text, size_t size);

/* Return the last line in text that is neither empty nor indented, such as an error without the
 * indented lines that explain it; the first line if there is none. The result points into text,
 * which is cut off after it. */
char *ddp_ask_last_line(char *text);

#endif
