/* Ranks as threads of one test.
 *
 * cmocka asserts in the main thread alone, and a rank that stops early hangs the others. So a rank
 * notes what went wrong and goes on. The test fails once, after all have ended, with what each
 * noted first.
 */
#ifndef DDP_TESTS_UNIT_RANKS_H
#define DDP_TESTS_UNIT_RANKS_H

#include "comm/group.h"

#include <pthread.h>

enum { RANKS_MAX = 40 };

struct rank {
    ddp_group *group; /* group of all ranks; closed after all have ended */
    int rank;
    int size;
    void *shared;
    pthread_barrier_t *meeting;
    char wrong[1024]; /* the first thing that went wrong; "" if nothing did */
};

/* Run body on every rank of a world of threads. A wait of more than 30 s fails. */
void ranks_run(int size, void (*body)(struct rank *me), void *shared);

/* Run body on hosts of ranks[h] ranks each (comm/group.h), with sums by levels of this radix. */
void ranks_run_levels(const int *ranks, int hosts, int radix, void (*body)(struct rank *me),
                      void *shared);

/* Hosts, and a radix for ranks_run_levels. */
struct hosts_shape {
    int hosts, radix;
    int ranks[20]; /* number of ranks of each host */
};

/* Run body on each of these shapes. Under ThreadSanitizer it runs on every fourth: that is slow,
 * and cannot see two threads in memory that each has mapped for itself. */
void ranks_run_shapes(const struct hosts_shape *shapes, size_t count,
                      void (*body)(struct rank *me));

/* Note what is wrong; the first note stays. */
void rank_wrong(struct rank *me, const char *fmt, ...) DDP_PRINTF(2, 3);

/* Note a wrong unless the call has succeeded. */
void rank_expect_ok(struct rank *me, ddp_status st, const ddp_error *err);

/* Note a wrong unless the call has failed with this code and this very text. */
void rank_expect_error(struct rank *me, ddp_status st, const ddp_error *err, ddp_status want,
                       const char *text);

/* Wait until all ranks are here. Calls nothing on the group, so it works after a failure. */
void rank_meet(struct rank *me);

#endif
