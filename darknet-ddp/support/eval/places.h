/* eval/places.h: what several views of a picture see at the place of a box, as eval/suspects.h
 * tells it. Whether there is a thing is one question, and of which class it is another one. */
#ifndef DDP_EVAL_PLACES_H
#define DDP_EVAL_PLACES_H

#include "eval/detections.h"

/* The finds (detections) of all views of a picture. A find's `picture` is its view, from 0; its
 * class_id is below `classes`. */
typedef struct ddp_seen {
    const ddp_detection *all;
    size_t count;
    int classes, views;
    double *best; /* room for classes x views scores */
} ddp_seen;

/* The finds of all views at the place of a box. Scores are means over views. */
typedef struct ddp_place {
    double sure;            /* how surely there is a thing, of whatever class: from 0 to 1 */
    double sum;             /* scores of all classes, added up */
    double first;           /* score of the likeliest class */
    double own;             /* score of the class that the caller asked for */
    int class_id;           /* the likeliest class; if nothing is seen, the one asked for */
    const ddp_detection *d; /* the likeliest find; NULL: there is none */
} ddp_place;

/* Return how much a find with box a counts at the place of box b: 0 up to an IoU of 0.3, 1 from 0.6
 * on, linear between. */
double ddp_place_nearness(const ddp_box *a, const ddp_box *b);

/* Return what is seen at a box. own: the class that is asked for. Writes to seen->best. */
ddp_place ddp_place_look(const ddp_seen *seen, const ddp_box *box, int own);

#endif
