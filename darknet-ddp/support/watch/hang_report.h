/* watch/hang_report.h: where all ranks are, as text for a person. */
#ifndef DDP_WATCH_HANG_REPORT_H
#define DDP_WATCH_HANG_REPORT_H

#include "watch/rank_position.h"

enum { DDP_WATCHED_FILE = 256 };

/* What is known of a rank. Times are of one clock; 0 is its start. */
typedef struct ddp_watched {
    ddp_rank_position at;
    int64_t heard_ns;            /* at which it last spoke */
    int64_t moved_ns;            /* at which it last did something */
    int64_t lost_ns;             /* at which its connection was gone; 0: it is not */
    int left;                    /* it said that it ends */
    int answered;                /* it has sent its events */
    char file[DDP_WATCHED_FILE]; /* that it waits for; empty: none is known */
} ddp_watched;

/* What every rank has sent, as its sums over all ranks show: its part of steps up to this one. */
typedef struct ddp_sent {
    uint64_t step; /* from 1; 0: of none yet */
    int64_t at_ns; /* when that was known */
} ddp_sent;

/* Where a rank is, in words: the step that it has completed by what it sent, where that is beyond
 * what it said itself, and how old both are. Into out, always ended. */
void ddp_watched_describe(char *out, size_t size, const ddp_watched *r, ddp_sent sent,
                          int64_t now_ns);

/* The title, then a line for each of ranks[0..count), which are ranks first, first + 1, ..., on
 * hosts[rank]. describe_bucket (NULL: nobody knows) says which layers a bucket holds. The text is
 * the caller's to free; NULL: there is no memory. */
char *ddp_hang_report_make(const char *title, const ddp_watched *ranks, const char *const *hosts,
                           int count, int first, ddp_sent sent, int64_t now_ns,
                           void (*describe_bucket)(void *ctx, int bucket, char *out, size_t size),
                           void *ctx);

#endif
