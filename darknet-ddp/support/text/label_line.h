/* text/label_line.h: reads a line of a label file, "CLASS X Y WIDTH HEIGHT": the centre and the
 * size of a box as fractions of the picture. */
#ifndef DDP_TEXT_LABEL_LINE_H
#define DDP_TEXT_LABEL_LINE_H

typedef struct ddp_label_box {
    int class_id;
    float x, y, w, h;
    int line; /* number of the box's line in its file, from 1; 0: not known */
} ddp_label_box;

typedef enum ddp_label_verdict {
    DDP_LABEL_BLANK, /* the line has nothing but blanks */
    DDP_LABEL_BOX,   /* the box is good; `kind` is not NULL if it is too small for training */
    DDP_LABEL_CUT,   /* the box has size 0, or a number of it is not within 0 to 1. Training takes
                        the part in the picture, if any; `ddp check` reports an error */
    DDP_LABEL_WRONG  /* no box, or of negative size: training ends with an error */
} ddp_label_verdict;

typedef struct ddp_label_line {
    /* the box, but for box.line; valid only if the verdict is DDP_LABEL_BOX or DDP_LABEL_CUT */
    ddp_label_box box;
    const char *kind; /* short name of the fault: "label-columns"; NULL: no fault */
    char why[256];    /* a sentence about the fault; only if kind is not NULL */
} ddp_label_line;

/* Read a line, which is cut into words in place. classes: number of classes; 0 or less: any class
 * from 0 on is allowed. A number that rounding alone has put outside 0 to 1 becomes 0 or 1.
 * A size below 0 is always a fault. */
ddp_label_verdict ddp_label_line_read(ddp_label_line *out, char *line, int classes);

#endif
