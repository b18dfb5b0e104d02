/* monitor/html.h: writes a web page in one file, with its pictures and without scripts.
 *
 * 1. ddp_html_begin writes the head.
 * 2. The caller writes elements to the same file, and their text by ddp_html_text.
 * 3. ddp_html_end writes the end. If fflush(out) and ferror(out) then return 0, all was written. */
#ifndef DDP_MONITOR_HTML_H
#define DDP_MONITOR_HTML_H

#include "eval/detections.h"

#include <stdio.h>

/* A box drawn over a picture. */
typedef struct ddp_html_box {
    ddp_box box;        /* in fractions of the picture */
    const char *name;   /* text at the box; NULL: none */
    const char *colour; /* colour in CSS: "#e6194b" */
    int is_dashed;
} ddp_html_box;

/* The first bytes of each page. A file that begins otherwise was not written here. */
extern const char ddp_html_first[];

/* Write the head of a page, and its title, any UTF-8 text, as a heading. */
void ddp_html_begin(FILE *out, const char *title);
/* Write the end of a page. */
void ddp_html_end(FILE *out);

/* Write a UTF-8 text of an element or attribute, with &, < and " escaped. NULL: writes nothing. */
void ddp_html_text(FILE *out, const char *text);

/* Write a JPEG of this size in pixels, with boxes drawn over it. */
void ddp_html_jpeg(FILE *out, const void *jpeg, size_t bytes, int width, int height,
                   const ddp_html_box *boxes, size_t count);

/* Write a table with a row for each name: its count, and a bar whose length shows the count. */
void ddp_html_bars(FILE *out, const char *const *names, const double *counts, size_t count);

/* Write the `count` bytes at `data` in base64, for a data: URL. */
void ddp_html_base64(FILE *out, const void *data, size_t count);

#endif
