/* check/label.h: checks a label file, which lists the boxes in a picture. */
#ifndef DDP_CHECK_LABEL_H
#define DDP_CHECK_LABEL_H

#include "check/faults.h"
#include "text/label_line.h"

typedef struct ddp_label_rules {
    int classes;          /* number of classes; 0: not known */
    int most;             /* how many boxes of a picture training takes; 0: not known */
    int width, height;    /* size of the picture in pixels, for messages; 0 or 1: not known */
    int missing_is_error; /* 1: a missing file is an error; 0: the picture shows nothing */
} ddp_label_rules;

typedef enum ddp_label_file {
    DDP_LABEL_NONE,  /* the file is not there, or cannot be opened */
    DDP_LABEL_EMPTY, /* the file has blank lines at most, or reading it fails */
    DDP_LABEL_LINES  /* the file has lines, good or not */
} ddp_label_file;

/* Check the label file at path, by ddp_label_line_read. Adds faults to *f, sets *kind, and returns
 * how many good boxes the file has. Calls found(ctx, box) for each of them. Each other line that is
 * not blank is an error, but all lines in pixels together are one. The check stops at a line with a
 * zero byte. */
size_t ddp_check_label(ddp_faults *f, const char *path, const ddp_label_rules *rules,
                       ddp_label_file *kind, void (*found)(void *ctx, const ddp_label_box *box),
                       void *ctx);

#endif
