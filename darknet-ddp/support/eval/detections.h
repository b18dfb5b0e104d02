/* eval/detections.h: the input of an evaluation: detections (objects that a detector found) and
 * truths (objects that labels name).
 *
 * A box is left, top, width, height: in pixels, or in any other unit that is the same for all boxes
 * of a picture. Pictures and classes are numbered from 0. */
#ifndef DDP_EVAL_DETECTIONS_H
#define DDP_EVAL_DETECTIONS_H

#include <stddef.h>
#include <stdint.h>

typedef struct ddp_box {
    double left, top, width, height;
} ddp_box;

typedef struct ddp_detection {
    uint32_t picture;
    int32_t class_id;
    double score; /* confidence of the network, any finite number */
    ddp_box box;
} ddp_detection;

typedef struct ddp_truth {
    uint32_t picture;
    int32_t class_id;
    ddp_box box;
} ddp_truth;

/* Return the area of the boxes' intersection over that of their union; 0 if they do not overlap. */
double ddp_box_iou(const ddp_box *a, const ddp_box *b);

/* Sort detections by class, picture and falling score; those of one score stay in the order of the
 * array. So the result does not depend on how pictures were shared out among ranks. Returns 0;
 * another number if there is no memory. */
int ddp_sort_detections(ddp_detection *detections, size_t count);
/* Sort truths by class, picture and their order in the array. Returns 0; another number if there is
 * no memory. */
int ddp_sort_truths(ddp_truth *truths, size_t count);

#endif
