/* watch/hang_report.h: writes a table for the user that says where in the run each rank is. */
#ifndef DDP_WATCH_HANG_REPORT_H
#define DDP_WATCH_HANG_REPORT_H

#include "watch/rank_position.h"

/* All that this process knows about a rank. A time is how many nanoseconds this process had run by
 * then, without those in which it was stopped. */
typedef struct ddp_known_rank {
    ddp_rank_position at; /* where the rank last said that it is */
    int64_t heard_ns; /* when the rank last told `at`; before that, when ranks joined the watch */
    int64_t moved_ns; /* when at.moves or at.step last changed */
    int64_t lost_ns;  /* when the connection with the rank was lost; 0: it was not */
    int left;         /* 1: the rank has said that it ends */
    int answered;     /* 1: the rank has sent its events */
    char file[256];   /* path of the file that the rank waits for; "": none is known */
} ddp_known_rank;

/* The last step that all ranks have completed: the sum of the step's losses has arrived. */
typedef struct ddp_completed_step {
    uint64_t step; /* number of the step, from 1; 0: none yet */
    int64_t at_ns; /* when this process noted that, by the clock of ddp_known_rank */
} ddp_completed_step;

/* All that this process knows about the ranks from first_rank on. */
typedef struct ddp_known_ranks {
    const ddp_known_rank *ranks; /* ranks[i] is rank first_rank + i */
    const char *const *hosts;    /* hosts[r] is the name of rank r's host */
    int count, first_rank;
    ddp_completed_step completed;
    int64_t now_ns; /* now, by the clock of ddp_known_rank */
} ddp_known_ranks;

/* Write to out, of `size` bytes, where rank first_rank + i is; always ended by a zero. If the rank
 * was last heard before now_ns, in a step that is completed by now, the text says so first. */
void ddp_known_rank_describe(char *out, size_t size, const ddp_known_ranks *known, int i);

/* Return the title, a line for each rank, and a line for each bucket that ranks wait for, without a
 * newline at the end. The caller frees the text. NULL: no memory.
 *   describe_bucket   writes to out which layers a bucket holds; NULL: no lines for buckets */
char *ddp_hang_report_make(const char *title, const ddp_known_ranks *known,
                           void (*describe_bucket)(void *ctx, int bucket, char *out, size_t size),
                           void *ctx);

#endif
