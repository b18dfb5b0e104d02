#include "core/launch_order.h"

#include <stdlib.h>
#include <string.h>

/* Elements that are to be on their way when backward ends. */
enum { MOST_LEFT = (4 << 20) / 4, LEFT_OF = 8 };

size_t ddp_launch_order_deferred(const ddp_bucket_plan *plan, size_t defer_bytes)
{
    size_t most = plan->count / 4, count = 0, elements = 0;

    if (most > defer_bytes / sizeof(float))
        most = defer_bytes / sizeof(float);
    while (count < plan->bucket_count) {
        elements += plan->buckets[count].count;
        if (elements > most)
            break;
        count++;
    }
    return count;
}

size_t ddp_launch_order_early(ddp_launch_order o)
{
    return o.sums - o.deferred - o.late;
}

size_t ddp_launch_order_nth(ddp_launch_order o, size_t n)
{
    size_t early = ddp_launch_order_early(o);

    if (n < early)
        return o.deferred + n;
    return n < early + o.late ? o.sums - 1 - (n - early) : o.sums - 1 - n;
}

size_t ddp_launch_order_place(ddp_launch_order o, size_t sum)
{
    if (sum < o.deferred)
        return o.sums - 1 - sum;
    if (sum + o.late >= o.sums)
        return ddp_launch_order_early(o) + o.sums - 1 - sum;
    return sum - o.deferred;
}

void ddp_launch_order_limit(ddp_launch_order *o, const size_t *counts, size_t early)
{
    size_t end = o->deferred;

    for (size_t n = 0; end < o->sums && n < early; end++)
        n += counts[end];
    o->late = o->sums - end;
}

static int by_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

/* Take the larger of two in the middle: what goes early too much is seen in the next step, but what
 * goes late too much leaves the line empty. */
static size_t median(const ddp_launch_history *m)
{
    size_t sorted[DDP_LAUNCH_STEPS];
    size_t count = m->steps < DDP_LAUNCH_STEPS ? m->steps : DDP_LAUNCH_STEPS;

    memcpy(sorted, m->suggested, sizeof sorted);
    qsort(sorted, count, sizeof *sorted, by_size);
    return sorted[count / 2];
}

/* Steps with late sums but no backlog show that the network is faster. After DDP_LAUNCH_EMPTY_STEPS
 * of them in a row the history is forgotten, and the result grows with each. */
size_t ddp_launch_order_adapt(ddp_launch_history *history, size_t all, size_t early, size_t backlog)
{
    size_t left = all / LEFT_OF < MOST_LEFT ? all / LEFT_OF : MOST_LEFT;
    size_t asked = backlog > early + left ? 0 : early + left - backlog;

    history->empty = backlog == 0 && early < all ? history->empty + 1 : 0;
    if (history->empty >= DDP_LAUNCH_EMPTY_STEPS) {
        for (int step = 1; step < history->empty && asked < all; step++)
            asked += asked - early;
        history->steps = 0;
        return asked;
    }
    history->suggested[history->steps++ % DDP_LAUNCH_STEPS] = asked;
    return median(history);
}
