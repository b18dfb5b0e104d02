/* algorithms/set.h: the algorithms (algorithms/algorithm.h) that the options of a run turn on. The
 * trainer opens the set, and gets from it the functions that a step calls (ddp_plugs). */
#ifndef DDP_ALGORITHMS_SET_H
#define DDP_ALGORITHMS_SET_H

#include "algorithms/algorithm.h"

#include <stdio.h>

typedef struct ddp_algorithm_set ddp_algorithm_set;

/* Open the algorithms that of->options turn on; there may be none. Every rank opens the same set.
 * ddp_claims_check must have passed the options. of->state is not used: the set has a state of its
 * own. Group, device and options of `of` must outlive the set. *out is set on success. Fails with
 * DDP_ERR_USAGE (an algorithm's check_run has failed), DDP_ERR_NOMEM. */
ddp_status ddp_algorithm_set_open(ddp_algorithm_set **out, const ddp_algorithm_of *of,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Detach and close all algorithms, and free s. NULL is allowed. */
void ddp_algorithm_set_close(ddp_algorithm_set *s);

/* Attach each algorithm to a network that is about to train. Every rank calls it; may block. What
 * *a points to must stay until ddp_algorithm_set_detach, a->saved_moments only during the call.
 * Fails with DDP_ERR_NOMEM, DDP_ERR_COMM, or on a->root the error of a->saved_moments; the other
 * ranks then wait until a->root ends the group. After a failure no algorithm is attached. */
ddp_status ddp_algorithm_set_attach(ddp_algorithm_set *s, const ddp_attached *a,
                                    ddp_error *err) DDP_MUST_CHECK;

/* Detach the algorithms that are attached. Call before the network's memory is freed. */
void ddp_algorithm_set_detach(ddp_algorithm_set *s);

/* Return 1 if ddp_algorithm_set_attach was ever called. */
int ddp_algorithm_set_was_attached(const ddp_algorithm_set *s);

/* Return the arrays that the algorithms keep and save beside the network's own; the set owns them.
 * After opening they are in host memory, where a resumed run loads them. Before
 * ddp_algorithm_set_attach, call ddp_state_share and ddp_state_use_device for them. NULL if s is
 * NULL. */
ddp_state *ddp_algorithm_set_state(const ddp_algorithm_set *s);

/* The tables of functions of a run's algorithms that a training step calls, each with `self`, the
 * first argument of its functions. A table is NULL if no algorithm needs it in this run. */
typedef struct ddp_plugs {
    const ddp_gradient_codec *codec;
    const ddp_update_plug *update;
    const ddp_step_plug *step;
    const ddp_layers_plug *layers;
    void *codec_self, *update_self, *step_self, *layers_self;
} ddp_plugs;

/* Return the functions of s that a training step calls; none if s is NULL. */
ddp_plugs ddp_algorithm_set_plugs(const ddp_algorithm_set *s);

/* Return 1 if an algorithm shards updates and the optimizer's moments over ranks. Returns 0 on one
 * rank, or if s is NULL. */
int ddp_algorithm_set_is_sharded(const ddp_algorithm_set *s);
/* Return the optimizer's moments that are sharded over ranks, valid until ddp_algorithm_set_detach.
 * NULL: each rank has all moments, the set is not attached, or s is NULL. */
ddp_sharded *ddp_algorithm_set_moments(const ddp_algorithm_set *s);

/* On rank 0, while attached: print to out what each algorithm says when a run begins, in the order
 * of algorithms.def. NULL is allowed as s. */
void ddp_algorithm_set_print(const ddp_algorithm_set *s, FILE *out);
/* On rank 0: print to stdout what becomes of the data that each rank keeps for itself, if a run of
 * `was` ranks goes on with `now` ranks. NULL is allowed as s. */
void ddp_algorithm_set_print_resumed(const ddp_algorithm_set *s, int was, int now);
/* On rank 0: print each algorithm's lines after a run of `steps` steps. NULL is allowed as s. */
void ddp_algorithm_set_print_end(const ddp_algorithm_set *s, FILE *out, size_t steps);

#endif
