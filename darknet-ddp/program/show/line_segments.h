/* show/line_segments.h: composes the line of progress at the bottom of a terminal from coloured
 * pieces. */
#ifndef DDP_SHOW_LINE_SEGMENTS_H
#define DDP_SHOW_LINE_SEGMENTS_H

#include <stddef.h>

/* Most bytes of a line, with escape sequences and the 0 at the end. */
enum { DDP_LINE_BYTES = 4096 };

/* A piece of the line of progress, in one colour. Two blanks at its beginning begin a group. */
typedef struct ddp_line_segment {
    const char *colour; /* number of an escape sequence, such as "1" for bold; NULL: none */
    const char *text;
} ddp_line_segment;

/* Write to `line` what a terminal must print to replace its present line by these segments. The
 * cursor ends at the line's beginning. Groups (ddp_line_segment) that do not fit are left out, but
 * the first group is cut to fit.
 *   segments  `count` pieces, the first one leftmost
 *   columns   columns that the terminal has for the line
 *   colours   0: without the segments' colours */
void ddp_compose_line(char line[DDP_LINE_BYTES], const ddp_line_segment *segments, size_t count,
                      size_t columns, int colours);

#endif
