/* check/model.h: checks classes=, filters= and channels= of a detector's cfg; reads its heads. */
#ifndef DDP_CHECK_MODEL_H
#define DDP_CHECK_MODEL_H

#include "base/cfg_text.h"
#include "check/faults.h"

enum { DDP_ANCHORS_MOST = 64 }; /* most anchors in ddp_heads */

/* The heads in a detector's cfg: sections [yolo], [region] and [detection]. */
typedef struct ddp_heads {
    int count;   /* number of heads */
    int classes; /* classes= of the last head; 20 if it has none */
    /* boxes of a picture that training takes at most: max= of the last head, or its default */
    int most_boxes;
    /* most_boxes, but with the default of the formulas of Darknet's later forks */
    int most_boxes_of_forks;
    int width, height; /* size of the network's input in pixels; 0: the cfg has none */
    int anchor_count;
    /* width and height of each anchor in a [yolo] head's mask=, fractions of the network's input */
    float anchors[2 * DDP_ANCHORS_MOST];
} ddp_heads;

/* Check a detector's cfg: classes= of each head, filters= of the convolution before it, and
 * channels= of [net]. Adds faults to *f, and sets *heads.
 *   cfg       text of the file at cfg_path
 *   classes   classes= of the .data file at data_path; 0: it has none, and heads may have any */
void ddp_check_model(ddp_faults *f, ddp_heads *heads, const ddp_cfg_text *cfg, const char *cfg_path,
                     const char *data_path, int classes);

#endif
