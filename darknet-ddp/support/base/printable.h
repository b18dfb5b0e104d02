/* base/printable.h: makes text safe for a terminal.
 *
 * Names of classes, files, keys and hosts come from elsewhere. A control character in them could
 * move the cursor, hide a line or type for the user. So each byte of a control character is
 * escaped, as `\x1b`. So are bytes that are no UTF-8, and the byte-order mark. Newlines and tabs
 * stay. */
#ifndef DDP_BASE_PRINTABLE_H
#define DDP_BASE_PRINTABLE_H

#include <stddef.h>

enum { DDP_PRINTABLE_ROOM = 4 }; /* most bytes that a byte of text becomes */

/* Write text[0..bytes) to out, escaped, and return how many bytes were written. out has
 * DDP_PRINTABLE_ROOM times as many bytes as text. No zero is added.
 *   used   becomes how many bytes of text were read. The bytes of a character that text's end cuts
 *          off, 3 at most, are left: begin the next text with them. NULL: all are read */
size_t ddp_printable(char *out, const char *text, size_t bytes, size_t *used);

#endif
