/* show/wait_shares.h: measures which share of its time each rank waits in communication, and finds
 * the straggler: the slowest rank, for which all others wait. It waits least, and each other rank
 * waits longer than it by more than a fifth of the time. */
#ifndef DDP_SHOW_WAIT_SHARES_H
#define DDP_SHOW_WAIT_SHARES_H

#include "base/status.h"
#include "comm/group.h"

#include <stdint.h>

/* number of columns that ddp_wait_shares_fill writes */
enum { DDP_WAITS_COLUMNS = 8 };

typedef struct ddp_wait_shares {
    ddp_group *group;
    int64_t at_ns;     /* when shares were last gathered, or counting began (ddp_clock_ns) */
    int64_t waited_ns; /* nanoseconds that this rank had waited in all at at_ns */
    double *shares;  /* by rank: share of time, 0 to 1, in which the rank waited; NaN: not known */
    int straggler;   /* rank that is the straggler; -1: none */
    double over_s;   /* seconds since rank `straggler` became the straggler */
    double excess_s; /* least seconds, of over_s, that each other rank has waited longer */
    int reported;    /* 1: ddp_wait_shares_straggler has returned this straggler */
} ddp_wait_shares;

/* Begin to count how long this rank waits. group must outlive w. Release w, also on failure. Fails
 * with DDP_ERR_NOMEM.
 *   communication_ns  this rank's time in communication so far (ddp_trainer_communication_ns) */
ddp_status ddp_wait_shares_init(ddp_wait_shares *w, ddp_group *group, int64_t communication_ns,
                                ddp_error *err) DDP_MUST_CHECK;
/* frees w->shares; *w becomes all zero */
void ddp_wait_shares_release(ddp_wait_shares *w);

/* Set on every rank the shares of time that all ranks have waited since the last call. Collective.
 * Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. communication_ns: this rank's time in communication so
 * far. */
ddp_status ddp_wait_shares_gather(ddp_wait_shares *w, int64_t communication_ns,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Return 1 when each other rank has waited 10 s longer than the straggler, once for each straggler.
 * Else return 0, with *rank and *share unchanged.
 *   rank   number of the straggler
 *   share  by how much longer the other ranks have waited, as a share of the time since this rank
 *          became the straggler */
int ddp_wait_shares_straggler(ddp_wait_shares *w, int *rank, double *share);

/* Set *least to the rank that waits least, and *most to the one that waits most. Returns 1; 0, with
 * both 0, before the first ddp_wait_shares_gather. */
int ddp_wait_shares_range(const ddp_wait_shares *w, int *least, int *most);

/* Write each rank's share to row[0..DDP_WAITS_COLUMNS). If there are more ranks than columns, write
 * the least, the mean and the greatest share instead. Other columns, and all before the first
 * ddp_wait_shares_gather, become NaN. */
void ddp_wait_shares_fill(const ddp_wait_shares *w, double *row);

#endif
