/* check/label.h: checks of a label file, which says what is in a picture. A line is "CLASS X Y
 * WIDTH HEIGHT": the centre and the size of a box as fractions of the picture. */
#ifndef DDP_CHECK_LABEL_H
#define DDP_CHECK_LABEL_H

#include "check/faults.h"

typedef struct ddp_label_box {
    int class_id;
    float x, y, w, h;
} ddp_label_box;

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

/* Check the label file at path, call found(ctx, box) for each good box, and return how many
 * these are. Adds faults to *f. Errors are lines that training's loader (read_boxes of Darknet's
 * data.c) refuses, and lines that it takes for another box than was meant. *kind becomes what
 * the file has. */
size_t ddp_check_label(ddp_faults *f, const char *path, const ddp_label_rules *rules,
                       ddp_label_file *kind, void (*found)(void *ctx, const ddp_label_box *box),
                       void *ctx);

#endif
