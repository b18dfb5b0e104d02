#include "show/wait_shares.h"

#include "base/clock.h"
#include "comm/collectives.h"

#include <math.h>
#include <stdlib.h>

static const double least_excess = .2, tell_after_s = 10;

/* Return how long this rank has waited: time in which it did not run is no wait. */
static int64_t waited_ns(const ddp_group *group, int64_t communication_ns)
{
    return communication_ns - ddp_group_descheduled_ns(group);
}

ddp_status ddp_wait_shares_init(ddp_wait_shares *w, ddp_group *group, int64_t communication_ns,
                                ddp_error *err)
{
    size_t size = (size_t)ddp_group_size(group);

    *w = (ddp_wait_shares){.group = group,
                           .at_ns = ddp_clock_ns(),
                           .waited_ns = waited_ns(group, communication_ns),
                           .straggler = -1};
    w->shares = calloc(size, sizeof *w->shares);
    if (!w->shares)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the waits of %zu ranks", size);
    for (size_t r = 0; r < size; r++)
        w->shares[r] = NAN;
    return DDP_OK;
}

void ddp_wait_shares_release(ddp_wait_shares *w)
{
    free(w->shares);
    *w = (ddp_wait_shares){0};
}

/* Return by how much more every other rank has waited than the one that waited least. */
static double excess(const ddp_wait_shares *w, int least)
{
    double next = 1;

    for (int r = 0; r < ddp_group_size(w->group); r++)
        if (r != least && w->shares[r] < next)
            next = w->shares[r];
    return next - w->shares[least];
}

/* Find the straggler of the last so many seconds. */
static void look_for_straggler(ddp_wait_shares *w, double seconds)
{
    int least, most, found = -1;

    if (ddp_group_size(w->group) > 1 && ddp_wait_shares_range(w, &least, &most)
        && excess(w, least) > least_excess)
        found = least;
    if (found != w->straggler) {
        w->straggler = found;
        w->excess_s = w->over_s = 0;
        w->reported = 0;
    }
    if (found < 0)
        return;
    w->excess_s += excess(w, found) * seconds;
    w->over_s += seconds;
}

int ddp_wait_shares_straggler(ddp_wait_shares *w, int *rank, double *share)
{
    if (w->straggler < 0 || w->reported || w->excess_s < tell_after_s)
        return 0;
    w->reported = 1;
    *rank = w->straggler;
    *share = w->excess_s / w->over_s;
    return 1;
}

ddp_status ddp_wait_shares_gather(ddp_wait_shares *w, int64_t communication_ns, ddp_error *err)
{
    int64_t now = ddp_clock_ns(), total_ns = waited_ns(w->group, communication_ns);
    double waited = fmax((double)(total_ns - w->waited_ns), 0);
    double share = now > w->at_ns ? fmin(waited / (double)(now - w->at_ns), 1) : 0;

    if (ddp_allgather(w->group, &share, w->shares, sizeof share, err))
        return ddp_wrap(err, "each rank's wait");
    look_for_straggler(w, (double)(now - w->at_ns) / 1e9);
    w->at_ns = now;
    w->waited_ns = total_ns;
    return DDP_OK;
}

int ddp_wait_shares_range(const ddp_wait_shares *w, int *least, int *most)
{
    *least = *most = 0;
    for (int r = 1; r < ddp_group_size(w->group); r++) {
        if (w->shares[r] < w->shares[*least])
            *least = r;
        if (w->shares[r] > w->shares[*most])
            *most = r;
    }
    return !isnan(w->shares[0]);
}

void ddp_wait_shares_fill(const ddp_wait_shares *w, double *row)
{
    int size = ddp_group_size(w->group), least, most;

    for (int i = 0; i < DDP_WAITS_COLUMNS; i++)
        row[i] = size <= DDP_WAITS_COLUMNS && i < size ? w->shares[i] : (double)NAN;
    if (size <= DDP_WAITS_COLUMNS || !ddp_wait_shares_range(w, &least, &most))
        return;
    row[0] = w->shares[least];
    row[1] = 0;
    for (int r = 0; r < size; r++)
        row[1] += w->shares[r] / size;
    row[2] = w->shares[most];
}
