/* core/launch_order.h: in which order a plan's buckets are launched. Pure functions.
 *
 * It is the plan's, but for the deferred buckets (core/reducer.h): its first ones, which hold
 * the last layers, come last and backwards, as the next forward pass needs them. */
#ifndef DDP_CORE_LAUNCH_ORDER_H
#define DDP_CORE_LAUNCH_ORDER_H

#include "core/plan.h"

typedef struct ddp_launch_order {
    size_t buckets;
    size_t deferred; /* leading buckets of the plan that are launched last */
} ddp_launch_order;

/* Defer as many leading buckets as hold defer_bytes, and a quarter of all elements, at most. */
ddp_launch_order ddp_launch_order_of(const ddp_plan *plan, size_t defer_bytes);

/* How many buckets are not deferred. */
size_t ddp_launch_order_undeferred(ddp_launch_order o);

/* The n-th bucket to be launched, and when a bucket is: each undoes the other. */
size_t ddp_launch_order_nth(ddp_launch_order o, size_t n);
size_t ddp_launch_order_number(ddp_launch_order o, size_t bucket);

#endif
