/* monitor/html.h: writes parts of web pages that any browser shows, with no script and nothing from
 * elsewhere: pictures are in the page.
 *
 * 1. ddp_html_begin writes the head; ddp_html_end the end.
 * 2. In between the caller writes elements, and all text by ddp_html_text.
 *
 * ferror(out) tells whether all of it could be written. */
#ifndef DDP_MONITOR_HTML_H
#define DDP_MONITOR_HTML_H

#include "eval/detections.h"

#include <stdio.h>

/* A box of a picture that is shown, in fractions of what is shown. */
typedef struct ddp_html_box {
    ddp_box box;
    const char *name;   /* label that is written at the box; NULL: none */
    const char *colour; /* CSS: "#e6194b" */
    int is_dashed;
} ddp_html_box;

/* The first bytes of each page: a file that begins otherwise is none of ours. */
extern const char ddp_html_first[];

/* Write the head, and the title, any UTF-8 text, as heading. ddp_html_end writes the end. */
void ddp_html_begin(FILE *out, const char *title);
void ddp_html_end(FILE *out);

/* Write a UTF-8 text, with &, < and " escaped, for an element or attribute; NULL: nothing. */
void ddp_html_text(FILE *out, const char *text);

/* Write a JPEG of this size in pixels, with boxes drawn above it. */
void ddp_html_jpeg(FILE *out, const void *jpeg, size_t bytes, int width, int height,
                   const ddp_html_box *boxes, size_t count);

/* Write a table of bars with a count each; the longest bar has the greatest count. */
void ddp_html_bars(FILE *out, const char *const *names, const double *counts, size_t count);

/* Write bytes in base64, as data: addresses have them. */
void ddp_html_base64(FILE *out, const void *data, size_t count);

#endif
