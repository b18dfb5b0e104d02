/* text/label_line.h: a line of a label file, "CLASS X Y WIDTH HEIGHT": the centre and the size of a
 * box as fractions of the picture. */
#ifndef DDP_TEXT_LABEL_LINE_H
#define DDP_TEXT_LABEL_LINE_H

typedef struct ddp_label_box {
    int class_id;
    float x, y, w, h;
    int line; /* number of its line in the file, from 1; 0: not known */
} ddp_label_box;

typedef enum ddp_label_verdict {
    DDP_LABEL_BLANK, /* the line has nothing but blanks */
    DDP_LABEL_BOX,   /* the box is good; `kind` may still warn that training leaves it out */
    DDP_LABEL_CUT,   /* the box has size 0, or a number of it is not within 0 to 1. Training takes
                        what lies in the picture, if anything; `ddp check` counts an error */
    DDP_LABEL_WRONG  /* the line has no box: training ends */
} ddp_label_verdict;

typedef struct ddp_label_line {
    ddp_label_box box; /* the line's box, but for box.line; not set if the line is blank or wrong */
    const char *kind;  /* short name of what is odd, as "label-columns"; NULL: nothing is */
    char why[256];     /* a sentence that says what is odd; set only if kind is not NULL */
} ddp_label_line;

/* Read a line, and cut it into words where it stands. classes: number of classes; 0 or less: any
 * class will do. A fraction that rounding has put beyond the picture's edge is put on the edge. */
ddp_label_verdict ddp_label_line_read(ddp_label_line *out, char *line, int classes);

#endif
