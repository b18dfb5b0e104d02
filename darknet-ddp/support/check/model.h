/* check/model.h: does a .data file fit its cfg? */
#ifndef DDP_CHECK_MODEL_H
#define DDP_CHECK_MODEL_H

#include "base/cfg_text.h"
#include "check/faults.h"

enum { DDP_ANCHORS_MOST = 64 }; /* most anchors in ddp_heads */

/* A detector's heads, as its cfg has them. */
typedef struct ddp_heads {
    int count;               /* number of sections [yolo], [region] or [detection] */
    int classes;             /* classes= of the last head */
    int most_boxes;          /* max= of the last head, or what training takes without it */
    int most_boxes_of_forks; /* most_boxes, were the cfg trained by the later forks' formulas */
    int width, height;       /* size of the network's input; 0: the cfg has none */
    int anchor_count;
    /* width and height of each anchor in a [yolo] head's mask=, fractions of the network's input */
    float anchors[2 * DDP_ANCHORS_MOST];
} ddp_heads;

/* Check the cfg at cfg_path, whose text is cfg, and set *heads. Compares its classes with
 * `classes`, those of the .data file at data_path (0: it has none). Looks at filters= of the
 * convolution before each head, and at channels= of [net]. Adds faults to *f. */
void ddp_check_model(ddp_faults *f, ddp_heads *heads, const ddp_cfg_text *cfg, const char *cfg_path,
                     const char *data_path, int classes);

#endif
