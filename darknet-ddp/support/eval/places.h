/* eval/places.h: how surely a detector sees a thing at the place of a box, and of which class.
 * Several views of a picture (eval/suspects.h) are put together: scores are means over views. */
#ifndef DDP_EVAL_PLACES_H
#define DDP_EVAL_PLACES_H

#include "eval/detections.h"

/* The detections of all views of a picture. The member `picture` of each is its view, from 0;
 * class_id is below `classes`. */
typedef struct ddp_view_finds {
    const ddp_detection *all;
    size_t count;
    int classes, views;
    double *best; /* scratch memory that the caller gives ddp_look_at: classes * views numbers */
} ddp_view_finds;

/* How the detections of all views see the place of a box. Scores are times ddp_box_nearness. */
typedef struct ddp_seen_at {
    double sure;            /* how surely there is a thing, of whatever class: from 0 to 1 */
    double sum;             /* sum of the scores of all classes */
    double first;           /* score of the likeliest class */
    double own;             /* score of the class that the caller asked for */
    int class_id;           /* the likeliest class, or that asked for if nothing is seen */
    const ddp_detection *d; /* detection of highest score times nearness; NULL: none is near */
} ddp_seen_at;

/* Return how much a detection with box a counts at the place of box b: 0 up to an IoU of 0.3, 1
 * from 0.6 on, linear between. */
double ddp_box_nearness(const ddp_box *a, const ddp_box *b);

/* Return what the views see at the place of a box. own: the class that is asked for. Overwrites
 * finds->best. */
ddp_seen_at ddp_look_at(const ddp_view_finds *finds, const ddp_box *box, int own);

#endif
