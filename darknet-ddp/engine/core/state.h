/* core/state.h: arrays that an algorithm keeps from step to step, most also in checkpoints, beside
 * the network's own. Examples: the error of compression, the slow momentum of local SGD.
 *
 * An algorithm declares a *set* of arrays: one array for each parameter of the table, or none for
 * some. The ddp_state owns all arrays. They lie in host memory, where a checkpoint reads and writes
 * them. While a GPU trains, it has copies in its own memory. In the functions below `set` is the
 * number of a set, and `i` is a parameter's index in the table.
 *
 *   DDP_STATE_SAME      the arrays are the same on all ranks: rank 0's are saved, and a resumed run
 *                       gives them to all ranks
 *   DDP_STATE_OF_RANK   each rank has arrays of its own: rank 0 gathers and saves those of all
 *                       ranks. A resumed run on as many ranks gives each rank its own back. On
 *                       another number of ranks, N, rank (r modulo N) gets old rank r's. A rank
 *                       adds several in the order of r, to keep the sum over ranks
 *   DDP_STATE_SCRATCH   the arrays are made anew in each run: neither saved nor shared */
#ifndef DDP_CORE_STATE_H
#define DDP_CORE_STATE_H

#include "base/status.h"
#include "comm/group.h"
#include "device/device.h"

#include <stddef.h>

typedef enum ddp_state_kind { DDP_STATE_SAME, DDP_STATE_OF_RANK, DDP_STATE_SCRATCH } ddp_state_kind;

/* The declaration of a set. */
typedef struct ddp_state_spec {
    const char *name; /* name in a state file, static; DDP_STATE_OF_RANK appends a blank and the
                         rank */
    ddp_state_kind kind;
    int is_moment; /* in a state file, 1: among moments (only DDP_STATE_SAME); 0: at the end */
} ddp_state_spec;

typedef struct ddp_state ddp_state;

/* Open the state of a table of param_count parameters, without sets. *out is set on success. Fails
 * with DDP_ERR_NOMEM. */
ddp_status ddp_state_open(ddp_state **out, size_t param_count, ddp_error *err) DDP_MUST_CHECK;
void ddp_state_close(ddp_state *s); /* calls ddp_state_leave_device, frees all; NULL is allowed */

/* Add a set of arrays, all zero. counts[i]: floats of parameter i's array; 0: it has none. *set
 * becomes the number of the set, from 0. *spec and counts are copied. Call before
 * ddp_state_use_device, in one order on every rank. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_state_add_set(ddp_state *s, const ddp_state_spec *spec, const size_t *counts,
                             size_t *set, ddp_error *err) DDP_MUST_CHECK;

/* Return how many sets s has; 0 if s is NULL. */
size_t ddp_state_set_count(const ddp_state *s);
/* Return the declaration of a set; s owns it, until the next ddp_state_add_set. */
const ddp_state_spec *ddp_state_set_spec(const ddp_state *s, size_t set);

/* Return how many floats an array has; 0 if parameter i has none. */
size_t ddp_state_floats(const ddp_state *s, size_t set, size_t i);
/* Return an array in host memory, which s owns; NULL if parameter i has none. While a GPU uses the
 * arrays, host memory may have older values: see ddp_state_pull. */
float *ddp_state_host(const ddp_state *s, size_t set, size_t i);

/* ---- on a device ---- */

/* Have device d use all arrays from here on; a GPU gets copies. Call once, or again after
 * ddp_state_leave_device. Fails with DDP_ERR_NOMEM; then no device uses them. */
ddp_status ddp_state_use_device(ddp_state *s, ddp_device *d, ddp_error *err) DDP_MUST_CHECK;

/* End the use on a device: call ddp_state_pull, and free the GPU's copies. Call before the device
 * is closed. Does nothing if no device uses the arrays. */
void ddp_state_leave_device(ddp_state *s);

/* Return an array in the memory of the device that uses it; NULL if parameter i has none. Call
 * while a device uses the arrays. */
float *ddp_state_on_device(const ddp_state *s, size_t set, size_t i);

/* Copy all arrays but those of DDP_STATE_SCRATCH from the GPU that uses them to host memory. Waits
 * for all work of the GPU. Does nothing if no GPU uses them. */
void ddp_state_pull(ddp_state *s);

/* ---- between ranks, and a checkpoint ---- */

/* Return 1 if some set is DDP_STATE_OF_RANK, so that all ranks take part in saving. Else return 0,
 * also if s is NULL. */
int ddp_state_has_rank_arrays(const ddp_state *s);

/* Gather the DDP_STATE_OF_RANK arrays of all ranks in rank 0's host memory, for a checkpoint; read
 * them by ddp_state_gathered_array. Every rank calls it; blocks if there are such arrays. On rank 0
 * it also brings arrays of the other kinds to host memory (ddp_state_pull). Fails with
 * DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_state_gather(ddp_state *s, ddp_group *group, ddp_error *err) DDP_MUST_CHECK;

/* Make room for the DDP_STATE_OF_RANK arrays of `ranks` ranks, all zero, to fill from a checkpoint
 * by ddp_state_gathered_array. Call on one rank; then call ddp_state_share on all. Frees what was
 * gathered or reserved before. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_state_reserve(ddp_state *s, int ranks, ddp_error *err) DDP_MUST_CHECK;

/* Return of how many ranks this rank has arrays by ddp_state_gather or ddp_state_reserve. 0 before
 * them, and after ddp_state_share. */
int ddp_state_gathered_ranks(const ddp_state *s);
/* Return a gathered or reserved array of a rank; NULL if parameter i has none. set: one that is
 * DDP_STATE_OF_RANK. rank: below ddp_state_gathered_ranks. */
float *ddp_state_gathered_array(const ddp_state *s, size_t set, int rank, size_t i);

/* Give all ranks the arrays of a run that rank root resumes. Every rank calls it, before
 * ddp_state_use_device; blocks. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM.
 *
 * DDP_STATE_SAME: every rank gets root's arrays. DDP_STATE_OF_RANK: each rank gets the arrays
 * that root has filled for it, else zeros, and root frees them. If root has reserved none
 * (ddp_state_reserve), each rank's arrays stay as they are. */
ddp_status ddp_state_share(ddp_state *s, ddp_group *group, int root, ddp_error *err) DDP_MUST_CHECK;

#endif
