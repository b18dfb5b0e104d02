/* algorithms/set.h: the algorithms of one run, and which of them plugs in where. */
#ifndef DDP_ALGORITHMS_SET_H
#define DDP_ALGORITHMS_SET_H

#include "algorithms/algorithm.h"

#include <stdio.h>

typedef struct ddp_algorithm_set ddp_algorithm_set;

/* Open those that of->options ask for, which ddp_claims_check has seen; a set may be empty. *of and
 * what it points to need not outlive the call, but for the group and the options. Every rank opens
 * the same. *out is set on success. DDP_ERR_USAGE: one does not go with this network, as its own
 * check_run says. Fails also with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_algorithm_set_open(ddp_algorithm_set **out, const ddp_algorithm_of *of,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Detached. NULL is allowed. */
void ddp_algorithm_set_close(ddp_algorithm_set *s);

/* The network is about to train: each one goes to work. Once; what it points to must outlive
 * ddp_algorithm_set_detach. Fails as each one's attach; those before it are detached then. */
ddp_status ddp_algorithm_set_attach(ddp_algorithm_set *s, const ddp_attached *a,
                                    ddp_error *err) DDP_MUST_CHECK;

/* The network's memory is about to go. Nothing happens if none is attached. */
void ddp_algorithm_set_detach(ddp_algorithm_set *s);

/* Was the set attached, if only once? */
int ddp_algorithm_set_was_attached(const ddp_algorithm_set *s);

/* Return the state that the algorithms keep beside the network's own arrays. The set owns it. It is
 * on the host when the set is opened, and resuming fills it there. It is shared with all ranks and
 * moved to the device (ddp_state_use) before the set is attached. NULL if s is NULL. */
ddp_state *ddp_algorithm_set_state(const ddp_algorithm_set *s);

/* The one that plugs in there, and *self to call it with; NULL: the plain run's. s may be NULL,
 * here and below. */
const ddp_sum_plug *ddp_algorithm_set_sum(const ddp_algorithm_set *s, void **self);
const ddp_update_plug *ddp_algorithm_set_update(const ddp_algorithm_set *s, void **self);
const ddp_step_plug *ddp_algorithm_set_step(const ddp_algorithm_set *s, void **self);
const ddp_layers_plug *ddp_algorithm_set_layers(const ddp_algorithm_set *s, void **self);

/* Are buckets summed in halves? */
int ddp_algorithm_set_halves(const ddp_algorithm_set *s);

/* Does one keep moments, parts on each rank? And these, while attached; NULL: none does. */
int ddp_algorithm_set_shards(const ddp_algorithm_set *s);
ddp_sharded *ddp_algorithm_set_sharded(const ddp_algorithm_set *s);

/* Each one's lines of the banner, while attached, and what it says at the end of so many steps, in
 * the order of their table. */
void ddp_algorithm_set_print(const ddp_algorithm_set *s, FILE *out);
void ddp_algorithm_set_print_resumed(const ddp_algorithm_set *s, int was, int now);
void ddp_algorithm_set_print_end(const ddp_algorithm_set *s, FILE *out, size_t steps);

#endif
