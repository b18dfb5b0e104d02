/* watch/hang_report.h: a table of where all ranks are, for a person. */
#ifndef DDP_WATCH_HANG_REPORT_H
#define DDP_WATCH_HANG_REPORT_H

#include "watch/rank_position.h"

/* Bytes of a file's path, with the zero at its end. */
enum { DDP_WATCHED_FILE = 256 };

/* All that is known about a rank. Times are nanoseconds that this process had run by then. */
typedef struct ddp_watched {
    ddp_rank_position at;
    int64_t heard_ns;            /* when the rank was last heard */
    int64_t moved_ns;            /* when the rank last did something, as its `at` tells */
    int64_t lost_ns;             /* when the connection with the rank was lost; 0: it was not */
    int left;                    /* 1: the rank has said that it ends */
    int answered;                /* 1: the rank has sent its events */
    char file[DDP_WATCHED_FILE]; /* file that the rank waits for; "": none is known */
} ddp_watched;

/* The last step that all ranks are known to have sent: a sum over all of them has arrived. */
typedef struct ddp_sent {
    uint64_t step; /* number of the step, from 1; 0: none yet */
    int64_t at_ns; /* when that became known: nanoseconds that this process had run by then */
} ddp_sent;

/* Write to out, of `size` bytes, where a rank is; always ended by a zero. If all ranks are
 * known to have sent the step of *r or a later one, the text says so first. It then also says how
 * long ago that was, and when *r was heard. now_ns: now, by the clock of ddp_watched. */
void ddp_watched_describe(char *out, size_t size, const ddp_watched *r, ddp_sent sent,
                          int64_t now_ns);

/* Return a text: the title, a line for each of ranks[0..count), and a line for each bucket that
 * they wait for; without a newline at its end. Rank first + i is ranks[i], on hosts[first + i].
 * describe_bucket(ctx, ...) writes which layers a bucket holds; NULL: lines of buckets are left
 * out. now_ns: by the clock of ddp_watched. The caller frees the text; NULL: no memory. */
char *ddp_hang_report_make(const char *title, const ddp_watched *ranks, const char *const *hosts,
                           int count, int first, ddp_sent sent, int64_t now_ns,
                           void (*describe_bucket)(void *ctx, int bucket, char *out, size_t size),
                           void *ctx);

#endif
