/* text/line.h: lines of the text files that people write: lists, names of classes, cfgs and .data
 * files. Lines are changed where they stand. */
#ifndef DDP_TEXT_LINE_H
#define DDP_TEXT_LINE_H

#include <stddef.h>

/* Return the length of the byte-order mark at the start of text[0..bytes): 3, or 0 for none. */
size_t ddp_byte_order_mark(const char *text, size_t bytes);

/* Return why a text file has bytes of 0, to be put behind its name: "is UTF-16 text: save it as
 * UTF-8". begin[0..bytes): the first bytes of the file. The text is static. */
const char *ddp_has_zeros(const char *begin, size_t bytes);

/* Cut \n and \r from the end of a line of a list or of names. Returns 1 if the rest has more than
 * blanks, else 0. */
int ddp_line_cut(char *line);

typedef enum ddp_line_kind {
    DDP_LINE_BLANK, /* nothing, or a comment: it begins with # or ; */
    DDP_LINE_TITLE, /* it begins with [ */
    DDP_LINE_OPTION /* KEY=VALUE, or any other text */
} ddp_line_kind;

/* Read a line of a cfg (is_cfg is 1: all its blanks go) or of a .data file (blanks within a value,
 * which may be a path, stay). Afterwards `line` is the title or the key, and *value the option's
 * value, which may be empty; NULL if the line has no '='. */
ddp_line_kind ddp_line_split(char *line, int is_cfg, char **value);

/* Remove all blanks of a text, as ddp_line_split does in a cfg. */
void ddp_line_squeeze(char *text);

/* Return 1 if blanks alone divide two numbers in a line of a cfg: without them they would be one.
 * Ask before ddp_line_split. */
int ddp_line_lacks_comma(const char *line);

#endif
