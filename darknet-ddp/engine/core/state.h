/* core/state.h: arrays that training keeps beside the network's own, from step to step and in
 * checkpoints. Examples: the error of compression, slow momentum.
 *
 * A kind of array is declared once; each parameter of the table has one such array, or none. It
 * lies in host memory, where a checkpoint finds it. While a GPU uses it, it lies in the GPU's
 * memory, too. Arrays are owned by the ddp_state. `i` is a parameter's index in the table.
 *
 *   DDP_STATE_SAME      the same on all ranks: rank 0's is saved, and given to all
 *   DDP_STATE_OF_RANK   each rank's own: rank 0 gathers the arrays of all ranks for a checkpoint. A
 *                       run that resumes on as many ranks gives each its own back. On
 *                       another number N of ranks, new rank r modulo N gets the array of old rank
 *                       r. Several are added, in the order of r: the sum over ranks stays
 *   DDP_STATE_SCRATCH   made anew in each run: neither saved nor shared */
#ifndef DDP_CORE_STATE_H
#define DDP_CORE_STATE_H

#include "base/status.h"
#include "comm/group.h"
#include "device/device.h"

#include <stddef.h>

typedef enum ddp_state_kind { DDP_STATE_SAME, DDP_STATE_OF_RANK, DDP_STATE_SCRATCH } ddp_state_kind;

typedef struct ddp_state_spec {
    /* name in a state file; with DDP_STATE_OF_RANK, a blank and the rank follow it. Static */
    const char *name;
    ddp_state_kind kind;
    int is_moment; /* 1: a state file lists these arrays with the parameter's moments; 0: behind all
                      others */
} ddp_state_spec;

typedef struct ddp_state ddp_state;

/* Open the state of a table of param_count parameters, with no kind of array declared. *out is set
 * on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_state_open(ddp_state **out, size_t param_count, ddp_error *err) DDP_MUST_CHECK;
void ddp_state_close(ddp_state *s); /* also frees all arrays; NULL is allowed */

/* Declare a kind of array: counts[i] floats for parameter i, all zero at first; 0: none. *array
 * becomes its number for the functions below, from 0. *spec and counts are copied. Call before
 * ddp_state_use, in one order on every rank. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_state_add(ddp_state *s, const ddp_state_spec *spec, const size_t *counts,
                         size_t *array, ddp_error *err) DDP_MUST_CHECK;

/* Return how many kinds of array were declared. s may be NULL: 0. */
size_t ddp_state_arrays(const ddp_state *s);
/* Return the declaration of a kind of array; s owns it, until the next ddp_state_add. */
const ddp_state_spec *ddp_state_spec_of(const ddp_state *s, size_t array);

/* Return how many floats of this kind parameter i has. */
size_t ddp_state_count(const ddp_state *s, size_t array, size_t i);
/* Return the floats of parameter i in host memory, which s owns; NULL: it has none. While a GPU
 * uses the arrays, host memory is as of the last ddp_state_pull or ddp_state_gather. */
float *ddp_state_host(const ddp_state *s, size_t array, size_t i);

/* ---- on a device ---- */

/* Use all arrays on device d from here on: on a GPU, copy them there. Call once, or again after
 * ddp_state_leave. Fails with DDP_ERR_NOMEM; then no device uses them. */
ddp_status ddp_state_use(ddp_state *s, ddp_device *d, ddp_error *err) DDP_MUST_CHECK;

/* End the use on a device: copy all arrays but those of DDP_STATE_SCRATCH back to host memory. Call
 * before the device is closed. Does nothing if no device uses them. */
void ddp_state_leave(ddp_state *s);

/* Return the floats of parameter i in the memory of the device that uses them; NULL: it has none,
 * or no device uses them. */
float *ddp_state_used(const ddp_state *s, size_t array, size_t i);

/* Copy all arrays but those of DDP_STATE_SCRATCH from the GPU that uses them to host memory; waits
 * for all work of the GPU. Does nothing on the host. */
void ddp_state_pull(ddp_state *s);

/* ---- between ranks, and a checkpoint ---- */

/* Return 1 if some kind is DDP_STATE_OF_RANK, so that all ranks take part in saving; else 0. s may
 * be NULL: 0. */
int ddp_state_gathers(const ddp_state *s);

/* Gather on rank 0, in host memory, the arrays of DDP_STATE_OF_RANK of all ranks. Calls
 * ddp_state_pull first: on rank 0 in any case, on others if there are such arrays. Every rank calls
 * it; blocks if there are such arrays. ddp_state_gathered_array has the result. Fails with
 * DDP_ERR_NOMEM on rank 0, and DDP_ERR_COMM. */
ddp_status ddp_state_gather(ddp_state *s, ddp_group *group, ddp_error *err) DDP_MUST_CHECK;

/* Make room for the arrays of DDP_STATE_OF_RANK of `ranks` ranks, all zero, in place of what was
 * gathered or reserved before. Call on the rank that then fills it from a checkpoint
 * (ddp_state_gathered_array). Fails with DDP_ERR_NOMEM. */
ddp_status ddp_state_reserve(ddp_state *s, int ranks, ddp_error *err) DDP_MUST_CHECK;

/* Return for how many ranks arrays were gathered or reserved; 0 at first, and after
 * ddp_state_share. */
int ddp_state_gathered(const ddp_state *s);
/* Return the gathered or reserved floats of a rank for parameter i, of a kind that is
 * DDP_STATE_OF_RANK; NULL: it has none. rank: below ddp_state_gathered. */
float *ddp_state_gathered_array(const ddp_state *s, size_t array, int rank, size_t i);

/* Give all ranks the arrays of rank root: those of DDP_STATE_SAME, and to each rank those of
 * DDP_STATE_OF_RANK that root has reserved and filled for it. If root has reserved none, those of
 * DDP_STATE_OF_RANK stay as they are. What was reserved is freed. Call before ddp_state_use. Every
 * rank calls it; blocks. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_state_share(ddp_state *s, ddp_group *group, int root, ddp_error *err) DDP_MUST_CHECK;

#endif
