/* show/wait_shares.h: the share of its time that each rank waits in communication. Ranks wait for
 * the slowest one, which is the one that waits least: the straggler. */
#ifndef DDP_SHOW_WAIT_SHARES_H
#define DDP_SHOW_WAIT_SHARES_H

#include "base/status.h"
#include "comm/group.h"

#include <stdint.h>

/* number of columns that ddp_wait_shares_fill writes */
enum { DDP_WAITS_COLUMNS = 8 };

typedef struct ddp_wait_shares {
    ddp_group *group;
    /* when shares were last gathered: ddp_clock_ns (at_ns), and this rank's total wait
     * (waited_ns) */
    int64_t at_ns, waited_ns;
    double *shares; /* by rank: share of time, 0 to 1, in which the rank waited; NaN: not known */
    int straggler;  /* rank that all others wait for; -1: none */
    double excess_s, over_s; /* since the straggler became one: excess_s: seconds that the others
                                waited longer; over_s: seconds that have passed */
    int reported;            /* 1: ddp_wait_shares_straggler has told of the straggler */
} ddp_wait_shares;

/* Begin to count how long this rank waits. communication_ns: its time in communication so far
 * (ddp_trainer_communication_ns). group must outlive w. Release w, also on failure. Fails with
 * DDP_ERR_NOMEM. */
ddp_status ddp_wait_shares_init(ddp_wait_shares *w, ddp_group *group, int64_t communication_ns,
                                ddp_error *err) DDP_MUST_CHECK;
void ddp_wait_shares_release(ddp_wait_shares *w); /* makes *w all zero, if it is not */

/* Give every rank the shares of all ranks. A rank's share is the part of the time since the last
 * call that it waited, 0 to 1. communication_ns: this rank's time in communication so far.
 * Collective. Fails with DDP_ERR_COMM. */
ddp_status ddp_wait_shares_gather(ddp_wait_shares *w, int64_t communication_ns,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Return 1, one time for each straggler, when that rank has held all others up for 10 s in all.
 * *rank is its number. *share: by how much longer every other rank has waited at least, as a share
 * of the time since it became the straggler. A rank is a straggler only while all others wait
 * longer by a fifth of the time. */
int ddp_wait_shares_straggler(ddp_wait_shares *w, int *rank, double *share);

/* Set *least to the rank that waits least, *most to the one that waits most, and return 1. Returns
 * 0, with both 0, before the first ddp_wait_shares_gather. */
int ddp_wait_shares_range(const ddp_wait_shares *w, int *least, int *most);

/* Write to row[0..DDP_WAITS_COLUMNS) the share of its time, 0 to 1, that each rank waited. More
 * ranks than columns: the least, the mean and the greatest share. Other columns, and all before the
 * first ddp_wait_shares_gather, become NaN. */
void ddp_wait_shares_fill(const ddp_wait_shares *w, double *row);

#endif
