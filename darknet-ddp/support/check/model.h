/* check/model.h: does a .data file fit its cfg? */
#ifndef DDP_CHECK_MODEL_H
#define DDP_CHECK_MODEL_H

#include "base/cfg_text.h"
#include "check/faults.h"

enum { DDP_ANCHORS_MOST = 64 };

/* What a detector's cfg says of its heads. */
typedef struct ddp_heads {
    int count;               /* sections [yolo], [region] or [detection] */
    int classes;             /* of the last one */
    int most_boxes;          /* max= of the last one, or what training takes without it */
    int most_boxes_of_forks; /* the same where a cfg is trained by the later forks' formulas */
    int width, height;       /* of the network's input; 0: the cfg does not say */
    int anchor_count;
    float anchors[2 * DDP_ANCHORS_MOST]; /* fractions of the network's input, all heads' */
} ddp_heads;

/* Compare cfg_path's text with classes= of its .data file (0: it has none), and look at filters= of
 * the convolution before each head and at channels= of [net]. Faults are added to *f. */
void ddp_check_model(ddp_faults *f, ddp_heads *heads, const ddp_cfg_text *cfg, const char *cfg_path,
                     const char *data_path, int classes);

#endif
