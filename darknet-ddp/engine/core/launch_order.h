/* core/launch_order.h: the order in which the gradient sums of a step are launched. Pure functions.
 *
 * There is a sum for each bucket of a plan, or for each piece of a bucket; second sums of
 * compressed buckets have no place here. The plan numbers them from the last layers' to the first
 * layers'. Three kinds are launched one after the other:
 *
 *   early      while backward computes or when it ends, in the plan's order
 *   late       with -ddp_priority, after these: the plan's last sums, from the first layer on,
 *              since the next forward pass needs them in that order
 *   deferred   after all others: the plan's first sums, which hold the last layers, also from the
 *              first of their layers on. The next forward pass needs these last
 *
 * The late sums have the priority that Jayarajan et al. 2019 (P3) and Peng et al. 2019
 * (ByteScheduler) give to parameters by the layer that needs them. Both papers decide as gradients
 * arrive. Here all ranks need one order, so the late sums are chosen before the step: from how much
 * was still in flight when backward ended in the last steps (ddp_launch_order_adapt). */
#ifndef DDP_CORE_LAUNCH_ORDER_H
#define DDP_CORE_LAUNCH_ORDER_H

#include "core/bucket_plan.h"

/* How many sums of each kind a step has. */
typedef struct ddp_launch_order {
    size_t sums;     /* early, late and deferred sums together */
    size_t deferred; /* how many are deferred: the plan's first ones */
    size_t late;     /* how many are late: the plan's last ones, at most sums - deferred */
} ddp_launch_order;

/* Return how many of the plan's first buckets are deferred: as many as together have at most
 * defer_bytes, and at most a quarter of all elements. */
size_t ddp_launch_order_deferred(const ddp_bucket_plan *plan, size_t defer_bytes);

/* Return how many sums are early. */
size_t ddp_launch_order_early(ddp_launch_order o);

/* Return the index in the plan of the sum that is launched as the n-th, from 0. */
size_t ddp_launch_order_nth(ddp_launch_order o, size_t n);
/* Return the place in the launch order, from 0, of the sum with this index in the plan. */
size_t ddp_launch_order_place(ddp_launch_order o, size_t sum);

/* ---- how many are late ---- */

/* Set o->late. In the plan's order, sums behind the deferred ones are early until the early ones
 * have `early` elements or more together. All later sums are late. counts[i]: elements of sum i. */
void ddp_launch_order_limit(ddp_launch_order *o, const size_t *counts, size_t early);

/* For ddp_launch_order_adapt. It takes the median of the last DDP_LAUNCH_STEPS steps. After
 * DDP_LAUNCH_EMPTY_STEPS steps in a row with late sums but no backlog it clears the history. */
enum { DDP_LAUNCH_STEPS = 5, DDP_LAUNCH_EMPTY_STEPS = 3 };

/* History of the last steps, for ddp_launch_order_adapt. All 0 at first. */
typedef struct ddp_launch_history {
    size_t suggested[DDP_LAUNCH_STEPS]; /* elements to launch early, by step, as a ring */
    size_t steps; /* how many steps were added since the history was last forgotten */
    int empty;    /* number of steps in a row, up to the last, that had late sums but no backlog */
} ddp_launch_history;

/* Add the last step to the history, and return how many elements to launch early in the next step;
 * it may be more than `all`. Ranks that pass the same values get the same result.
 *
 *   all      elements of all sums that are not deferred
 *   early    how many of these were launched early in the last step
 *   backlog  how many of `early` had not arrived when backward ended: the mean over ranks
 *
 * Each step suggests what arrived while its backward pass ran, and a little more. The result is the
 * median of the last suggestions, so one slow step changes little. But after
 * DDP_LAUNCH_EMPTY_STEPS steps in a row with late sums and no backlog it grows with each. */
size_t ddp_launch_order_adapt(ddp_launch_history *history, size_t all, size_t early,
                              size_t backlog);

#endif
