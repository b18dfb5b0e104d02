#include "watch/hang_report.h"

#include <stdio.h>

/* Longer than this, in seconds, and a rank that speaks every second is not heard. */
static const double silent_s = 3;

static void put_rank(FILE *out, const ddp_watched *r, int rank, const char *host, int64_t now_ns)
{
    double heard_s = (double)(now_ns - r->heard_ns) / 1e9;
    double moved_s = (double)(now_ns - r->moved_ns) / 1e9;
    int gone = r->left || r->lost_ns > 0;
    char at[256];

    ddp_rank_position_describe(at, sizeof at, &r->at);
    /* It may have come further since: a rank speaks once a second. */
    (void)fprintf(out, "\n  rank %d @ %s: %s%s", rank, host, gone ? "last heard: " : "", at);
    if (r->left)
        (void)fprintf(out, "; it has ended");
    else if (r->lost_ns > 0)
        (void)fprintf(out, "; its connection is gone for %.0f s",
                      (double)(now_ns - r->lost_ns) / 1e9);
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
                           int count, int first, int64_t now_ns,
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
        put_rank(out, &ranks[i], first + i, hosts[first + i], now_ns);
    for (int i = 0; describe_bucket && i < count; i++) {
        char layers[256] = "";

        if (!is_first_with_bucket(ranks, i))
            continue;
        describe_bucket(ctx, ranks[i].at.bucket, layers, sizeof layers);
        (void)fprintf(out, "\n  bucket %d holds %s", ranks[i].at.bucket, layers);
    }
    return fclose(out) == 0 ? text : NULL;
}
