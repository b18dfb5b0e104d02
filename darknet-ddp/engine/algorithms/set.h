/* algorithms/set.h: the algorithms of one run, and which of them plugs in where. */
#ifndef DDP_ALGORITHMS_SET_H
#define DDP_ALGORITHMS_SET_H

#include "algorithms/algorithm.h"

#include <stdio.h>

typedef struct ddp_algorithm_set ddp_algorithm_set;

/* Open the algorithms that of->options ask for, which ddp_claims_check must have passed; there may
 * be none. *of and what it points to need not outlive the call, but for the group, the device and
 * the options. of->state is not read: the set makes its own. Every rank opens the same. *out is set
 * on success. Fails with DDP_ERR_USAGE (one does not go with this run, as its check_run says),
 * DDP_ERR_NOMEM. */
ddp_status ddp_algorithm_set_open(ddp_algorithm_set **out, const ddp_algorithm_of *of,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Detach and close all algorithms, and free s. NULL is allowed. */
void ddp_algorithm_set_close(ddp_algorithm_set *s);

/* Begin the work of each algorithm: the network is about to train. Every rank calls it; blocks.
 * *a must stay until ddp_algorithm_set_detach. Fails with DDP_ERR_NOMEM,
 * DDP_ERR_COMM, or the error of a->first; then no algorithm is attached. */
ddp_status ddp_algorithm_set_attach(ddp_algorithm_set *s, const ddp_attached *a,
                                    ddp_error *err) DDP_MUST_CHECK;

/* End the work of each algorithm before the network's memory goes. Nothing if none is attached. */
void ddp_algorithm_set_detach(ddp_algorithm_set *s);

/* Return 1 if ddp_algorithm_set_attach was ever called. */
int ddp_algorithm_set_was_attached(const ddp_algorithm_set *s);

/* Return the state that the algorithms keep beside the network's own arrays; the set owns it. When
 * the set is opened it is in host memory, where resuming fills it. Before the set is attached it
 * must be shared with all ranks, and moved to the device (ddp_state_use_device). NULL if s is NULL.
 */
ddp_state *ddp_algorithm_set_state(const ddp_algorithm_set *s);

/* Return the sum plug of the algorithm that has one, and set *self to the first argument of its
 * functions. NULL: sums are a plain run's. Here and below s may be NULL. */
const ddp_gradient_codec *ddp_algorithm_set_codec(const ddp_algorithm_set *s, void **self);
/* Return the update plug of the algorithm that has one, and set *self to the first argument of its
 * functions. NULL: updates are a plain run's. */
const ddp_update_plug *ddp_algorithm_set_update(const ddp_algorithm_set *s, void **self);
/* Return the step plug of the algorithm that has one, and set *self to the first argument of its
 * functions. NULL: steps are a plain run's. */
const ddp_step_plug *ddp_algorithm_set_step(const ddp_algorithm_set *s, void **self);
/* Return the layers plug of the algorithm that has one, and set *self to the first argument of its
 * functions. NULL: all layers run in each step. */
const ddp_layers_plug *ddp_algorithm_set_layers(const ddp_algorithm_set *s, void **self);

/* Return 1 if an algorithm has buckets summed in halves. */
int ddp_algorithm_set_halves(const ddp_algorithm_set *s);

/* Return 1 if an algorithm gives each rank only parts of the optimizer's moments. */
int ddp_algorithm_set_shards(const ddp_algorithm_set *s);
/* Return the optimizer's moments of which each rank has parts, while attached; s owns them. NULL:
 * none. */
ddp_sharded *ddp_algorithm_set_sharded(const ddp_algorithm_set *s);

/* Print each algorithm's lines of the banner, while attached, in the order of their table. */
void ddp_algorithm_set_print(const ddp_algorithm_set *s, FILE *out);
/* Print to stdout what becomes of each rank's own state when a run of `was` ranks goes on on `now`
 * ranks. Call on rank 0. */
void ddp_algorithm_set_print_resumed(const ddp_algorithm_set *s, int was, int now);
/* Print what each algorithm says at the end of a run of `steps` steps. */
void ddp_algorithm_set_print_end(const ddp_algorithm_set *s, FILE *out, size_t steps);

#endif
