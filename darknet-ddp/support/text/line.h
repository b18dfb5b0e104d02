/* text/line.h: reads lines of text files that people write: lists, names of classes, .cfg and .data
 * files. Lines are changed in place. */
#ifndef DDP_TEXT_LINE_H
#define DDP_TEXT_LINE_H

#include <stddef.h>

/* Return the length of UTF-8's byte-order mark if text[0..bytes) begins with it: 3; else 0. */
size_t ddp_byte_order_mark(const char *text, size_t bytes);

/* Return a text for the user about a text file that has bytes of 0: "is UTF-16 text: save it as
 * UTF-8" or, without UTF-16's mark, "has bytes of 0: ...". It is to be put behind the file's name.
 * begin[0..bytes): the first bytes of the file; bytes 0: not known. Static text. */
const char *ddp_has_zeros(const char *begin, size_t bytes);

/* Cut \n and \r from the end of a line of a list or of names. Returns 0 if the line is blank,
 * else 1. */
int ddp_line_cut(char *line);

typedef enum ddp_line_kind {
    DDP_LINE_BLANK, /* nothing, or a comment: it begins with # or ; */
    DDP_LINE_TITLE, /* a title: it begins with [ */
    DDP_LINE_OPTION /* KEY=VALUE, or any other text */
} ddp_line_kind;

/* Split a line of a cfg (is_cfg is 1) or of a .data file. Afterwards `line` is the title or the
 * key, and *value the option's value, which may be empty; NULL if there is no '='. In a cfg all
 * blanks are removed; in a .data file those within a value, which may be a path, stay. */
ddp_line_kind ddp_line_split(char *line, int is_cfg, char **value);

/* Remove all spaces, tabs and line ends of a text. */
void ddp_line_squeeze(char *text);

/* Return 1 if a line of a cfg has two numbers with blanks, but no comma, between them. Call before
 * ddp_line_split, which would make one number of both. */
int ddp_line_lacks_comma(const char *line);

#endif
