#include "eval/places.h"

#include <string.h>

static const double close_by = 0.6; /* IoU from which a find is at a place */
static const double far_off = 0.3;  /* IoU up to which it is not there at all */

double ddp_place_nearness(const ddp_box *a, const ddp_box *b)
{
    double near = (ddp_box_iou(a, b) - far_off) / (close_by - far_off);

    return near < 0 ? 0 : near > 1 ? 1 : near;
}

/* Set seen->best to the scores at a box, by class and view. Returns the likeliest find; NULL: there
 * is none. */
static const ddp_detection *collect(const ddp_seen *seen, const ddp_box *box)
{
    const ddp_detection *likeliest = NULL;
    double most = 0;

    memset(seen->best, 0, (size_t)seen->classes * (size_t)seen->views * sizeof *seen->best);
    for (size_t i = 0; i < seen->count; i++) {
        const ddp_detection *d = &seen->all[i];
        double score = d->score * ddp_place_nearness(&d->box, box);
        double *best = &seen->best[d->class_id * seen->views + (int)d->picture];

        *best = score > *best ? score : *best;
        if (score > most) {
            most = score;
            likeliest = d;
        }
    }
    return likeliest;
}

ddp_place ddp_place_look(const ddp_seen *seen, const ddp_box *box, int own)
{
    ddp_place p = {.class_id = own, .d = collect(seen, box)};

    for (int c = 0; c < seen->classes; c++) {
        double score = 0;

        for (int v = 0; v < seen->views; v++)
            score += seen->best[c * seen->views + v] / seen->views;
        p.sum += score;
        if (c == own)
            p.own = score;
        if (score > p.first) {
            p.first = score;
            p.class_id = c;
        }
    }
    p.sure = p.sum < 1 ? p.sum : 1;
    return p;
}
