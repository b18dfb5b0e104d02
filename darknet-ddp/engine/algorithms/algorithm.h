/* algorithms/algorithm.h: the interface of an algorithm: a way to send less or to update
 * differently. Nothing else of it is known outside its folder. PyTorch's folder for the same is
 * torch/distributed/algorithms.
 *
 * A folder of algorithms/ holds all of one algorithm: its rows of the table of options (NAME.def),
 * its claims, its code, its lines of a run's banner, and its tests. One line of algorithms.def
 * makes it part of the program. Without folder and line nothing of it is left
 * (scripts/check-removable).
 *
 * The module algorithms/ stands between core/ and glue/: it knows neither Darknet nor checkpoints.
 * Of options a folder reads those of its own rows.
 */
#ifndef DDP_ALGORITHMS_ALGORITHM_H
#define DDP_ALGORITHMS_ALGORITHM_H

#include "algorithms/claims.h"
#include "algorithms/plugs.h"
#include "base/status.h"
#include "comm/group.h"
#include "core/params.h"
#include "core/reducer.h"
#include "core/sharded.h"
#include "core/state.h"
#include "core/sum_plug.h"

#include <stdint.h>
#include <stdio.h>

/* The facts about a network that algorithms know, so that they need none of Darknet's headers. */
typedef struct ddp_network_facts {
    size_t max_batches; /* 0: not known */
    int burn_in;
    double ema_alpha;
    const ddp_residual_block *blocks; /* that learn, from input to output; block_count of them */
    int block_count;
} ddp_network_facts;

/* The run that an algorithm is opened for. */
typedef struct ddp_algorithm_of {
    const ddp_options *options;
    ddp_group *group;
    ddp_device *device; /* that the network trains on */
    const ddp_param_table
        *table;       /* table of the host's memory: shapes, and rank 0's first values */
    ddp_state *state; /* arrays that it keeps are declared there */
    ddp_network_facts network;
} ddp_algorithm_of;

/* The objects that there are while the network trains. */
typedef struct ddp_attached {
    const ddp_param_table *table; /* table of the device's memory */
    uint64_t seed;                /* the run's seed */
    ddp_reducer *reducer;
    int root; /* the rank whose state all begin with */
    /* On root: reads the moments that the run begins with; NULL: the table has them. On other ranks
     * it is not read. */
    const ddp_sharded_source *first;
} ddp_attached;

typedef struct ddp_algorithm {
    const char *example; /* words of a command line that ask for it; the first is its option */
    ddp_claims claims;
    /* For an algorithm that controls the launch order: what is launched in that order, for a
     * sentence. */
    const char *order_subject;

    /* Does the command line ask for it? */
    int (*is_on)(const ddp_options *o);
    /* Is what the rows of this folder ask for sound by itself, on or not? DDP_ERR_USAGE: why not.
     * NULL: always. */
    ddp_status (*check)(const ddp_options *o, ddp_error *err);
    /* Does it go with this network, these ranks and this device? DDP_ERR_USAGE: why not. NULL: with
     * any. */
    ddp_status (*check_run)(const ddp_algorithm_of *of, ddp_error *err);

    /* From here to close it has *self. Where open leaves that NULL there is nothing to do in this
     * run: it is asked for its words alone. *of and what it points to may be
     * gone afterwards, but for group, device and options. */
    ddp_status (*open)(void **self, const ddp_algorithm_of *of, ddp_error *err);
    /* The network is about to train; and it has trained. What `a` points to lives in between. */
    ddp_status (*attach)(void *self, const ddp_attached *a, ddp_error *err);
    void (*detach)(void *self);
    void (*close)(void *self);

    int halves; /* 1: a bucket's sum is made in two halves, the second by it (core/reducer.h) */
    /* The places where it is called (core/sum_plug.h, algorithms/plugs.h). */
    const ddp_sum_plug *sum;
    const ddp_update_plug *update;
    const ddp_step_plug *step;
    const ddp_layers_plug *layers;

    /* Moments of which it has parts, while attached. NULL: the framework has all of them. */
    ddp_sharded *(*sharded)(const void *self);

    void (*print)(const void *self, FILE *out); /* lines of the banner; while attached */
    /* On rank 0, of a run that goes on from one of `was` ranks on `now`: what becomes of state that
     * is each rank's own. */
    void (*print_resumed)(int was, int now);
    void (*print_end)(const void *self, FILE *out, size_t steps); /* when so many have ended */
} ddp_algorithm;

/* In the order of algorithms.def; NULL after the last. */
extern const ddp_algorithm *const ddp_algorithms[];

/* The one that these options ask for and that makes the second halves of sums itself, where there
 * is more than one rank; NULL: none does. */
const ddp_algorithm *ddp_algorithms_halving(const ddp_options *o);

#endif
