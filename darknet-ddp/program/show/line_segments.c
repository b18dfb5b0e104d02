#include "show/line_segments.h"

#include <stdio.h>
#include <string.h>

enum { LINE = DDP_LINE_BYTES };

/* Return the end of the group that begins with segment i. */
static size_t group_end(const ddp_line_segment *segments, size_t count, size_t i)
{
    do
        i++;
    while (i < count && strncmp(segments[i].text, "  ", 2) != 0);
    return i;
}

static size_t length_of(const ddp_line_segment *segments, size_t count)
{
    size_t length = 0;

    for (size_t i = 0; i < count; i++)
        length += strlen(segments[i].text);
    return length;
}

/* Put at most `room` letters of a segment behind the `used` bytes of the line. Returns the line's
 * bytes then. */
static size_t put_segment(char line[LINE], const ddp_line_segment *segment, int colours,
                          size_t used, size_t room)
{
    int coloured = colours && segment->colour;
    int n = snprintf(line + used, LINE - used, "%s%s%s%.*s%s", coloured ? "\033[" : "",
                     coloured ? segment->colour : "", coloured ? "m" : "", (int)room, segment->text,
                     coloured ? "\033[0m" : "");

    return n < 0 || used + (size_t)n >= LINE - 8 ? used : used + (size_t)n;
}

void ddp_compose_line(char line[LINE], const ddp_line_segment *segments, size_t count,
                      size_t columns, int colours)
{
    size_t left = columns < LINE / 4 ? columns : LINE / 4, used = 1, end;

    line[0] = '\r';
    for (size_t i = 0; i < count; i = end) {
        end = group_end(segments, count, i);
        if (i > 0 && length_of(segments + i, end - i) > left)
            continue;
        for (size_t j = i; j < end; j++) {
            size_t length = strlen(segments[j].text) < left ? strlen(segments[j].text) : left;

            used = put_segment(line, &segments[j], colours, used, length);
            left -= length;
        }
    }
    (void)snprintf(line + used, LINE - used, "\033[K\r");
}
