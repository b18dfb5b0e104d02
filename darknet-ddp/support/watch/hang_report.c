#include "watch/hang_report.h"

#include <inttypes.h>
#include <stdio.h>

/* Seconds after which a rank counts as not heard: it speaks every second. */
static const double silent_s = 3;

static double seconds(int64_t from_ns, int64_t to_ns)
{
    return (double)(to_ns - from_ns) / 1e9;
}

void ddp_watched_describe(char *out, size_t size, const ddp_watched *r, ddp_sent sent,
                          int64_t now_ns)
{
    char known[160] = "", at[256];

    ddp_rank_position_describe(at, sizeof at, &r->at);
    if (sent.step > 0 && sent.step >= r->at.step && r->heard_ns < now_ns)
        (void)snprintf(known, sizeof known,
                       "step %" PRIu64 " completed, by what it sent up to %.1f s ago; when last "
                       "heard, %.1f s ago, it was at ",
                       sent.step, seconds(sent.at_ns, now_ns), seconds(r->heard_ns, now_ns));
    (void)snprintf(out, size, "%s%s%s%s", known, at, r->file[0] ? ", at the file " : "", r->file);
}

static void put_rank(FILE *out, const ddp_watched *r, int rank, const char *host, ddp_sent sent,
                     int64_t now_ns)
{
    double heard_s = seconds(r->heard_ns, now_ns), moved_s = seconds(r->moved_ns, now_ns);
    int gone = r->left || r->lost_ns > 0;
    char at[1024];

    ddp_watched_describe(at, sizeof at, r, sent, now_ns);
    /* A lost rank may have come further than it said: it speaks once a second. */
    (void)fprintf(out, "\n  rank %d @ %s: %s%s", rank, host, gone ? "last heard: " : "", at);
    if (r->left)
        (void)fprintf(out, "; it has ended");
    else if (r->lost_ns > 0)
        (void)fprintf(out, "; its connection is gone for %.0f s", seconds(r->lost_ns, now_ns));
    else if (heard_s > silent_s)
        (void)fprintf(out, "; not heard for %.0f s", heard_s);
    else if (moved_s >= 1)
        (void)fprintf(out, "; for %.0f s", moved_s);
}

static int is_first_with_bucket(const ddp_watched *ranks, int rank)
{
    for (int r = 0; r < rank; r++)
        if (ranks[r].at.bucket == ranks[rank].at.bucket)
            return 0;
    return ranks[rank].at.bucket >= 0;
}

char *ddp_hang_report_make(const char *title, const ddp_watched *ranks, const char *const *hosts,
                           int count, int first, ddp_sent sent, int64_t now_ns,
                           void (*describe_bucket)(void *ctx, int bucket, char *out, size_t size),
                           void *ctx)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    (void)fputs(title, out);
    for (int i = 0; i < count; i++)
        put_rank(out, &ranks[i], first + i, hosts[first + i], sent, now_ns);
    for (int i = 0; describe_bucket && i < count; i++) {
        char layers[256] = "";

        if (!is_first_with_bucket(ranks, i))
            continue;
        describe_bucket(ctx, ranks[i].at.bucket, layers, sizeof layers);
        (void)fprintf(out, "\n  bucket %d holds %s", ranks[i].at.bucket, layers);
    }
    return fclose(out) == 0 ? text : NULL;
}
