/* core/state.h: arrays that training keeps beside the network's own, from step to step and in
 * checkpoints. Examples: the error of compression, slow momentum.
 *
 * A kind of array is declared once; each parameter of the table has one such array, or none. It
 * lies in host memory, where a checkpoint finds it, and while it is used on a GPU there, too.
 *
 *   DDP_STATE_SAME      the same on all ranks: rank 0's is saved, and given to all
 *   DDP_STATE_OF_RANK   each rank's own: rank 0 gathers all ranks' where they are saved. A run that
 *                       goes on on as many ranks gives each its own back. On another number old
 *                       rank r's is added to that of new rank r modulo their number, in the order
 *                       of r: so the sum over ranks, which is what counts of gradients, stays
 *   DDP_STATE_SCRATCH   made anew in each run: neither saved nor shared
 */
#ifndef DDP_CORE_STATE_H
#define DDP_CORE_STATE_H

#include "base/status.h"
#include "comm/group.h"
#include "device/device.h"

#include <stddef.h>

typedef enum ddp_state_kind { DDP_STATE_SAME, DDP_STATE_OF_RANK, DDP_STATE_SCRATCH } ddp_state_kind;

typedef struct ddp_state_spec {
    const char
        *name; /* in a state file; of DDP_STATE_OF_RANK a blank and the rank follow. Static */
    ddp_state_kind kind;
    int is_moment; /* a state file lists it with the parameter's moments, and not behind all else */
} ddp_state_spec;

typedef struct ddp_state ddp_state;

/* Open the state of a table of param_count parameters; nothing is declared. *out is set on success.
 * Fails with DDP_ERR_NOMEM. */
ddp_status ddp_state_open(ddp_state **out, size_t param_count, ddp_error *err) DDP_MUST_CHECK;
void ddp_state_close(ddp_state *s); /* NULL is allowed */

/* Declare a kind of array: counts[i] floats for parameter i, all zero; 0: none. *array is its
 * number for the functions below, from 0. Call before ddp_state_use, in one order on every rank.
 * Fails with DDP_ERR_NOMEM. */
ddp_status ddp_state_add(ddp_state *s, const ddp_state_spec *spec, const size_t *counts,
                         size_t *array, ddp_error *err) DDP_MUST_CHECK;

/* Return how many kinds were declared, and what one is. s may be NULL: none. */
size_t ddp_state_arrays(const ddp_state *s);
const ddp_state_spec *ddp_state_spec_of(const ddp_state *s, size_t array);

/* Return how many floats parameter i has, and where they are in host memory; NULL: it has none.
 * While they are used on a GPU, host memory is as of the last ddp_state_pull or gather. */
size_t ddp_state_count(const ddp_state *s, size_t array, size_t i);
float *ddp_state_host(const ddp_state *s, size_t array, size_t i);

/* ---- on a device ---- */

/* Use all arrays on d from here on: a GPU takes as much memory for them. Fails with DDP_ERR_NOMEM.
 */
ddp_status ddp_state_use(ddp_state *s, ddp_device *d, ddp_error *err) DDP_MUST_CHECK;

/* Bring all arrays back to host memory, before d is closed. Nothing is done if they are not used.
 */
void ddp_state_leave(ddp_state *s);

/* Return where parameter i's floats are in d's memory, while they are used; NULL: it has none. */
float *ddp_state_used(const ddp_state *s, size_t array, size_t i);

/* Copy what is used to host memory; waits for all work of a GPU. */
void ddp_state_pull(ddp_state *s);

/* ---- between ranks, and a checkpoint ---- */

/* Return 1 if some array is each rank's own. Saving is then collective. s may be NULL. */
int ddp_state_gathers(const ddp_state *s);

/* Gather on rank 0, in host memory, what all ranks have; a pull is part of it. Every rank calls it;
 * blocks. Fails with DDP_ERR_NOMEM on rank 0, and DDP_ERR_COMM. */
ddp_status ddp_state_gather(ddp_state *s, ddp_group *group, ddp_error *err) DDP_MUST_CHECK;

/* Make room for the arrays of so many ranks, all zero: on the rank that then fills it from a
 * checkpoint. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_state_reserve(ddp_state *s, int ranks, ddp_error *err) DDP_MUST_CHECK;

/* Return for how many ranks there is room, 0 at first; and where a rank's floats are, of a kind
 * that is DDP_STATE_OF_RANK. */
int ddp_state_gathered(const ddp_state *s);
float *ddp_state_gathered_array(const ddp_state *s, size_t array, int rank, size_t i);

/* Give ranks what rank root has: its arrays of DDP_STATE_SAME, and to each rank those of
 * DDP_STATE_OF_RANK that root has reserved and filled for it. Before ddp_state_use. Every rank
 * calls it; blocks. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_state_share(ddp_state *s, ddp_group *group, int root, ddp_error *err) DDP_MUST_CHECK;

#endif
