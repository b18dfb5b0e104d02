#include "eval/places.h"

#include <string.h>

static const double close_by = 0.6; /* IoU from which a find is at a place */
static const double far_off = 0.3;  /* IoU up to which it is not there at all */

double ddp_box_nearness(const ddp_box *a, const ddp_box *b)
{
    double near = (ddp_box_iou(a, b) - far_off) / (close_by - far_off);

    return near < 0 ? 0 : near > 1 ? 1 : near;
}

/* Set finds->best to the scores at a box, by class and view. Returns the likeliest find; NULL:
 * there is none. */
static const ddp_detection *collect(const ddp_view_finds *finds, const ddp_box *box)
{
    const ddp_detection *likeliest = NULL;
    double most = 0;

    memset(finds->best, 0, (size_t)finds->classes * (size_t)finds->views * sizeof *finds->best);
    for (size_t i = 0; i < finds->count; i++) {
        const ddp_detection *d = &finds->all[i];
        double score = d->score * ddp_box_nearness(&d->box, box);
        double *best = &finds->best[d->class_id * finds->views + (int)d->picture];

        *best = score > *best ? score : *best;
        if (score > most) {
            most = score;
            likeliest = d;
        }
    }
    return likeliest;
}

ddp_seen_at ddp_look_at(const ddp_view_finds *finds, const ddp_box *box, int own)
{
    ddp_seen_at p = {.class_id = own, .d = collect(finds, box)};

    for (int c = 0; c < finds->classes; c++) {
        double score = 0;

        for (int v = 0; v < finds->views; v++)
            score += finds->best[c * finds->views + v] / finds->views;
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
