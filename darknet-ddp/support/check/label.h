/* check/label.h: checks of a label file, which says what is in a picture. */
#ifndef DDP_CHECK_LABEL_H
#define DDP_CHECK_LABEL_H

#include "check/faults.h"
#include "text/label_line.h"

typedef struct ddp_label_rules {
    int classes;          /* number of classes; 0: not known */
    int most;             /* boxes that training takes of a picture; 0: not known */
    int width, height;    /* the picture's pixels, for messages; 0: not known */
    int missing_is_error; /* 1: a missing file is an error; 0: the picture shows nothing */
} ddp_label_rules;

typedef enum ddp_label_file {
    DDP_LABEL_NONE,  /* the file is not there, or cannot be opened */
    DDP_LABEL_EMPTY, /* the file has blank lines at most */
    DDP_LABEL_LINES  /* the file has lines, good or not */
} ddp_label_file;

/* Check the label file at path, call found(ctx, box) for each good box, and return how many these
 * are. Reads lines by ddp_label_line_read, as in training, and adds faults to *f. A line without a
 * good box is an error, but a blank one is none. A good box may add a warning. All lines whose
 * numbers are pixels add one error. *kind becomes what the file has. */
size_t ddp_check_label(ddp_faults *f, const char *path, const ddp_label_rules *rules,
                       ddp_label_file *kind, void (*found)(void *ctx, const ddp_label_box *box),
                       void *ctx);

#endif
