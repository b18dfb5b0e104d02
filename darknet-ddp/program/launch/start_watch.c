#include "launch/start_watch.h"

#include "base/clock.h"
#include "launch/process_tree.h"

/* SLOW_S: when a line says that no rank has begun. LOST_S: how long a launcher may take to end
 * after a rank has. MEET_S: what no ranks need to meet; LATER_S: how much later than the ranks' own
 * watch (run/watchdog.h), which says more, this one ends them. */
enum { SLOW_S = 10, LOST_S = 5, MEET_S = 300, LATER_S = 10 };

static double seconds_since(int64_t then_ns)
{
    return (double)(ddp_clock_ns() - then_ns) / 1e9;
}

/* Is one of the ranks that have begun on this host gone? Ranks may have children that run this
 * program, too, so fewer processes than ranks are sure to be one rank less. */
static int lacks_rank(const ddp_start_watch *w, int begun)
{
    return w->ranks_here > 0 && begun >= w->ranks_here
           && ddp_process_tree_signal(0) < w->ranks_here;
}

static ddp_start_verdict look_at_first(ddp_start_watch *w)
{
    double waited_s = seconds_since(w->began_ns);
    double slow_s = w->limit_s > 0 && w->limit_s < 2 * SLOW_S ? w->limit_s / 2 : SLOW_S;

    if (w->limit_s > 0 && waited_s >= w->limit_s)
        return DDP_LAUNCH_HAS_NO_RANK;
    if (waited_s < slow_s || w->said)
        return DDP_LAUNCH_GOES_ON;
    w->said = 1;
    return DDP_LAUNCH_IS_SLOW;
}

ddp_start_verdict ddp_start_watch_look(ddp_start_watch *w, int begun)
{
    double limit_s = w->limit_s < MEET_S ? w->limit_s : MEET_S;

    if (begun == 0)
        return look_at_first(w);
    if (w->ran_ns == 0)
        w->ran_ns = ddp_clock_ns();
    if (!lacks_rank(w, begun))
        w->lacked_ns = 0;
    else if (w->lacked_ns == 0)
        w->lacked_ns = ddp_clock_ns();
    if (w->lacked_ns > 0 && seconds_since(w->lacked_ns) >= LOST_S)
        return DDP_LAUNCH_HAS_LOST;
    return w->limit_s > 0 && seconds_since(w->ran_ns) >= limit_s + LATER_S
               ? DDP_LAUNCH_DOES_NOT_MEET
               : DDP_LAUNCH_GOES_ON;
}
