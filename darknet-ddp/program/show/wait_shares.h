/* show/wait_shares.h: what share of its time each rank gives to communication. Ranks wait for the
 * slowest one, so that is the one that waits least. */
#ifndef DDP_SHOW_WAIT_SHARES_H
#define DDP_SHOW_WAIT_SHARES_H

#include "base/status.h"
#include "comm/group.h"

#include <stdint.h>

/* Columns of ddp_wait_shares_fill. */
enum { DDP_WAITS_COLUMNS = 8 };

typedef struct ddp_wait_shares {
    ddp_group *group;
    int64_t at_ns, waited_ns; /* of this rank, when it was gathered last */
    double *shares;           /* of each rank, 0 to 1; NaN: not known */
    int straggler;            /* that all others have been waiting for; -1: none */
    double held_s, over_s;    /* how long they have, and of how long */
    int told;
} ddp_wait_shares;

/* communication_ns: of this rank, so far. group must outlive w. Release with
 * ddp_wait_shares_release. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_wait_shares_init(ddp_wait_shares *w, ddp_group *group, int64_t communication_ns,
                                ddp_error *err) DDP_MUST_CHECK;
void ddp_wait_shares_release(ddp_wait_shares *w);

/* Every rank learns the shares of all since the last call. Blocks until every rank is here. Fails
 * with DDP_ERR_COMM. */
ddp_status ddp_wait_shares_gather(ddp_wait_shares *w, int64_t communication_ns,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Has one rank held all others up for 10 s? Each time once of one rank: into *rank, with the share
 * of their time that the others, each of them, have waited since that began. Ranks whose waits are
 * within a fifth of the time of each other hold nobody up. */
int ddp_wait_shares_straggler(ddp_wait_shares *w, int *rank, double *share);

/* The ranks that wait least and most; 0: nothing is known. */
int ddp_wait_shares_range(const ddp_wait_shares *w, int *least, int *most);

/* As figures of a step: each rank's share, or, of more ranks than columns, the least, the mean and
 * the greatest. The other columns become NaN. */
void ddp_wait_shares_fill(const ddp_wait_shares *w, double *row);

#endif
