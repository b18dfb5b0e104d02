/* core/launch_order.h: in which order the sums of a plan are launched. Pure functions.
 *
 * A sum is a bucket or a piece of one; they are numbered as the plan has them, from the last
 * layers' to the first layers'. Three kinds:
 *
 *   early      launched while backward computes, in the plan's order
 *   late       the plan's last ones, of the first layers: launched when backward has ended, from
 *              the first layer on, as the next forward pass needs them
 *   deferred   the plan's first ones, of the last layers (core/reducer.h): launched after all
 *              others, also from the first of their layers on
 *
 * So what is left when backward has ended goes by priority, which Jayarajan et al. 2019 (P3) and
 * Peng et al. 2019 (ByteScheduler) give to parameters by the layer that needs them. Both papers
 * decide as gradients arrive. Here all ranks need one order, so the late sums are chosen before the
 * step, from how much was still in flight when backward ended in the last steps
 * (ddp_launch_order_adapt). */
#ifndef DDP_CORE_LAUNCH_ORDER_H
#define DDP_CORE_LAUNCH_ORDER_H

#include "core/bucket_plan.h"

typedef struct ddp_launch_order {
    size_t sums;
    size_t deferred; /* how many of the plan's first sums are launched after all others */
    size_t late; /* last sums of the plan that wait until backward ends; at most sums - deferred */
} ddp_launch_order;

/* Return how many of the plan's first buckets are deferred: as many as fit into defer_bytes, and
 * into a quarter of all elements. */
size_t ddp_launch_order_defer(const ddp_bucket_plan *plan, size_t defer_bytes);

/* Return the order of a plan's sums where each bucket is one sum and none is late. Buckets that
 * ddp_launch_order_defer counts are deferred. */
ddp_launch_order ddp_launch_order_of(const ddp_bucket_plan *plan, size_t defer_bytes);

/* Return how many sums are launched while backward computes: all but the deferred and the late. */
size_t ddp_launch_order_early(ddp_launch_order o);

/* Return the index in the plan of the sum that is launched as the n-th, from 0. */
size_t ddp_launch_order_nth(ddp_launch_order o, size_t n);
/* Return the place in the launch order, from 0, of the sum with this index in the plan. */
size_t ddp_launch_order_number(ddp_launch_order o, size_t sum);

/* ---- which ones are late ---- */

/* Set o->late so that no more sums go early than are needed to hold `early` elements. If all sums
 * that are not deferred hold fewer, all of these go early. counts[i]: elements of sum i, in the
 * plan's order. */
void ddp_launch_order_limit(ddp_launch_order *o, const size_t *counts, size_t early);

/* DDP_LAUNCH_STEPS: how many last steps a median is taken of. DDP_LAUNCH_EMPTY_STEPS: after how
 * many steps in a row without sums in flight at the end of backward the history is forgotten. */
enum { DDP_LAUNCH_STEPS = 5, DDP_LAUNCH_EMPTY_STEPS = 3 };

/* History of the last steps, for ddp_launch_order_adapt. All 0 at first. */
typedef struct ddp_launch_history {
    /* elements that a step asked to launch early: step n's at index n % DDP_LAUNCH_STEPS */
    size_t early[DDP_LAUNCH_STEPS];
    size_t steps; /* how many steps the history has heard of since it was last forgotten */
    int empty;    /* steps in a row with nothing in flight at backward's end and some sums late */
} ddp_launch_history;

/* Tell the history how the last step went, and return how many elements are to go early in the
 * next.
 *
 *   all      elements of all sums that are not deferred
 *   early    how many of these went early in the step
 *   backlog  how many of `early` had not landed when backward ended: the mean over ranks
 *
 * Returns the median of what the last DDP_LAUNCH_STEPS asked for. So a step in which a rank or the
 * line was held up changes nothing, and a lasting change is followed when most steps have seen it.
 * A step asks for as much as the line carried in it and a little more, so that the line never runs
 * dry. The little is an eighth of `all`, at most 4 MiB. If DDP_LAUNCH_EMPTY_STEPS in a row had no
 * backlog although some sums were late, the line carries more than the history says. The history is
 * then forgotten, and each further such step adds twice as much as the one before. Ranks that pass
 * the same values get the same result. */
size_t ddp_launch_order_adapt(ddp_launch_history *history, size_t all, size_t early,
                              size_t backlog);

#endif
