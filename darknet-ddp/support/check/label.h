/* check/label.h: the file that says what is in a picture: "CLASS X Y WIDTH HEIGHT" a line, the
 * centre and the size of a box as fractions of the picture. */
#ifndef DDP_CHECK_LABEL_H
#define DDP_CHECK_LABEL_H

#include "check/faults.h"

typedef struct ddp_label_box {
    int class_id;
    float x, y, w, h;
} ddp_label_box;

typedef struct ddp_label_rules {
    int classes;          /* 0: not known */
    int most;             /* boxes that training takes; 0: not known */
    int width, height;    /* of the picture, to say what pixels would be; 0: not known */
    int missing_is_error; /* else the picture shows nothing */
} ddp_label_rules;

typedef enum ddp_label_file {
    DDP_LABEL_NONE,  /* it is not there */
    DDP_LABEL_EMPTY, /* blank lines at most */
    DDP_LABEL_LINES  /* good or not */
} ddp_label_file;

/* Read path and add what is wrong to *f: every line that training's loader (read_boxes of Darknet's
 * data.c) refuses is an error, and so is what it takes for another box than was meant. found is
 * called with each good box. Returns how many boxes were good. */
size_t ddp_check_label(ddp_faults *f, const char *path, const ddp_label_rules *rules,
                       ddp_label_file *kind, void (*found)(void *ctx, const ddp_label_box *box),
                       void *ctx);

#endif
