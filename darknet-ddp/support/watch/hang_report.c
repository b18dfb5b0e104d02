#include "watch/hang_report.h"

#include <inttypes.h>
#include <stdio.h>

/* Seconds after which a rank counts as not heard: it speaks every second. */
static const double silent_s = 3;

static double seconds(int64_t from_ns, int64_t to_ns)
{
    return (double)(to_ns - from_ns) / 1e9;
}

void ddp_known_rank_describe(char *out, size_t size, const ddp_known_ranks *known, int i)
{
    const ddp_known_rank *r = &known->ranks[i];
    const ddp_completed_step *last = &known->completed;
    char completed[160] = "", at[256];

    ddp_rank_position_describe(at, sizeof at, &r->at);
    if (last->step > 0 && last->step >= r->at.step && r->heard_ns < known->now_ns)
        (void)snprintf(completed, sizeof completed,
                       "step %" PRIu64 " completed, by what it sent up to %.1f s ago; when last "
                       "heard, %.1f s ago, it was at ",
                       last->step, seconds(last->at_ns, known->now_ns),
                       seconds(r->heard_ns, known->now_ns));
    (void)snprintf(out, size, "%s%s%s%s", completed, at, r->file[0] ? ", at the file " : "",
                   r->file);
}

static void put_rank(FILE *out, const ddp_known_ranks *known, int i)
{
    const ddp_known_rank *r = &known->ranks[i];
    double heard_s = seconds(r->heard_ns, known->now_ns);
    double moved_s = seconds(r->moved_ns, known->now_ns);
    int gone = r->left || r->lost_ns > 0, rank = known->first_rank + i;
    char at[1024];

    ddp_known_rank_describe(at, sizeof at, known, i);
    /* A lost rank may have come further than it said: it speaks once a second. */
    (void)fprintf(out, "\n  rank %d @ %s: %s%s", rank, known->hosts[rank],
                  gone ? "last heard: " : "", at);
    if (r->left)
        (void)fprintf(out, "; it has ended");
    else if (r->lost_ns > 0)
        (void)fprintf(out, "; its connection is gone for %.0f s",
                      seconds(r->lost_ns, known->now_ns));
    else if (heard_s > silent_s)
        (void)fprintf(out, "; not heard for %.0f s", heard_s);
    else if (moved_s >= 1)
        (void)fprintf(out, "; for %.0f s", moved_s);
}

static int is_first_with_bucket(const ddp_known_rank *ranks, int i)
{
    for (int k = 0; k < i; k++)
        if (ranks[k].at.bucket == ranks[i].at.bucket)
            return 0;
    return ranks[i].at.bucket >= 0;
}

char *ddp_hang_report_make(const char *title, const ddp_known_ranks *known,
                           void (*describe_bucket)(void *ctx, int bucket, char *out, size_t size),
                           void *ctx)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    (void)fputs(title, out);
    for (int i = 0; i < known->count; i++)
        put_rank(out, known, i);
    for (int i = 0; describe_bucket && i < known->count; i++) {
        int bucket = known->ranks[i].at.bucket;
        char layers[256] = "";

        if (!is_first_with_bucket(known->ranks, i))
            continue;
        describe_bucket(ctx, bucket, layers, sizeof layers);
        (void)fprintf(out, "\n  bucket %d holds %s", bucket, layers);
    }
    return fclose(out) == 0 ? text : NULL;
}
