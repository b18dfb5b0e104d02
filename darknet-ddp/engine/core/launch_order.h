/* core/launch_order.h: in which order the sums of a plan are launched. Pure functions.
 *
 * A sum is a bucket or a piece of one; they are numbered as the plan has them, from the last
 * layers' to the first layers'. Three kinds:
 *
 *   early      launched while backward computes, in the plan's order
 *   late       the plan's last ones, of the first layers: launched when backward has ended, from
 *              the first layer on, as the next forward pass needs them
 *   deferred   the plan's first ones, of the last layers (core/reducer.h): after all others, in the
 *              same order
 *
 * So what is left when backward has ended goes by priority, which Jayarajan et al. 2019 (P3) and
 * Peng et al. 2019 (ByteScheduler) give to parameters by the layer that needs them. They decide as
 * gradients arrive. Here all ranks need one order, so the late sums are chosen before the step,
 * from how much was still in flight when backward ended in the last steps
 * (ddp_launch_order_adapt). */
#ifndef DDP_CORE_LAUNCH_ORDER_H
#define DDP_CORE_LAUNCH_ORDER_H

#include "core/bucket_plan.h"

typedef struct ddp_launch_order {
    size_t sums;
    size_t deferred; /* leading sums that are launched last */
    size_t late;     /* trailing ones, launched before those; at most the rest */
} ddp_launch_order;

/* Return how many leading buckets hold defer_bytes, and a quarter of all elements, at most. */
size_t ddp_launch_order_defer(const ddp_bucket_plan *plan, size_t defer_bytes);

/* Return the order in which each bucket is one sum, and nothing is late. */
ddp_launch_order ddp_launch_order_of(const ddp_bucket_plan *plan, size_t defer_bytes);

/* Return how many sums are launched early. */
size_t ddp_launch_order_early(ddp_launch_order o);

/* Return the n-th sum to be launched; and as which one a sum is launched, the inverse. */
size_t ddp_launch_order_nth(ddp_launch_order o, size_t n);
size_t ddp_launch_order_number(ddp_launch_order o, size_t sum);

/* ---- which ones are late ---- */

/* Have as many sums go early as hold `early` elements; of the last one maybe only some. counts: the
 * elements of each sum, in the plan's order. */
void ddp_launch_order_limit(ddp_launch_order *o, const size_t *counts, size_t early);

/* The elements that the last steps asked to send early; all 0: there was no step. */
enum { DDP_LAUNCH_STEPS = 5, DDP_LAUNCH_EMPTY_STEPS = 3 };
typedef struct ddp_launch_history {
    size_t early[DDP_LAUNCH_STEPS]; /* elements, of each */
    size_t steps;                   /* since it was empty */
    int empty;                      /* in a row, up to the last one, had nothing left */
} ddp_launch_history;

/* Return how many elements are to go early in the next step: the median of what the last
 * DDP_LAUNCH_STEPS asked for. So a step in which a rank or the line was held up changes nothing,
 * and a lasting change is followed when most of them have seen it. A step asks for as much as the
 * line carried in it and a little more, at most 4 MiB, so that the line never runs dry. If
 * DDP_LAUNCH_EMPTY_STEPS in a row had nothing left, the history is of a line that carried less, and
 * is forgotten. Each further such step adds twice as much as the one before. Ranks that pass the
 * same get the same.
 *
 * `all` are the elements that could go early, and `early` those that did. The backlog is those of
 * them that had not landed when backward ended, the mean over ranks. */
size_t ddp_launch_order_adapt(ddp_launch_history *history, size_t all, size_t early,
                              size_t backlog);

#endif
