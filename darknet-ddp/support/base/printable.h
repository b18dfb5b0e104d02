/* base/printable.h: text that a terminal shows as it is.
 *
 * Names of classes, files, keys and hosts come from elsewhere, and a control character in them
 * could move the cursor, hide a line or type for the user. In what is printed each byte of such a
 * character is
 * `\x1b`; so are bytes that are no UTF-8, and the mark at the beginning of a file, `\xef\xbb\xbf`.
 * Newlines and tabs stay. */
#ifndef DDP_BASE_PRINTABLE_H
#define DDP_BASE_PRINTABLE_H

#include <stddef.h>

enum { DDP_PRINTABLE_ROOM = 4 }; /* bytes of out for each of text */

/* Write text[0..bytes) so to out, which has DDP_PRINTABLE_ROOM times as many bytes. *used: of text;
 * where it ends within a character that may go on these last bytes, 3 at most, are left for next
 * time. NULL: nothing is left. Returns how many bytes are in out. */
size_t ddp_printable(char *out, const char *text, size_t bytes, size_t *used);

#endif
