/* algorithms/algorithm.h: the interface of an algorithm: a way to send less or to update
 * differently. Code outside an algorithm's folder knows nothing else of it. PyTorch's algorithms
 * are in torch/distributed/algorithms.
 *
 * A folder of algorithms/ holds all of one algorithm: its rows of the table of options (NAME.def),
 * its claims, its code, its lines of a run's banner, and its tests. One line of algorithms.def
 * makes it part of the program. Without folder and line nothing of it is left
 * (scripts/check-removable).
 *
 * The module algorithms/ stands between core/ and glue/: it knows neither Darknet nor checkpoints.
 * A folder reads only the options of its own rows. */
#ifndef DDP_ALGORITHMS_ALGORITHM_H
#define DDP_ALGORITHMS_ALGORITHM_H

#include "algorithms/claims.h"
#include "algorithms/plugs.h"
#include "base/status.h"
#include "comm/group.h"
#include "core/gradient_codec.h"
#include "core/params.h"
#include "core/reducer.h"
#include "core/sharded.h"
#include "core/state.h"

#include <stdint.h>
#include <stdio.h>

/* The facts about a network that algorithms know, so that they need none of Darknet's headers. */
typedef struct ddp_network_facts {
    size_t max_batches; /* how many steps the run has; 0: not known */
    int burn_in;        /* in how many first steps the learning rate grows (the cfg's burn_in=) */
    double ema_alpha;   /* the cfg's ema_alpha=, for an average of the weights; 0: there is none */
    const ddp_residual_block
        *blocks; /* residual blocks that learn, from input to output: block_count of them */
    int block_count;
} ddp_network_facts;

/* The run that an algorithm is opened for. */
typedef struct ddp_algorithm_of {
    const ddp_options *options;
    ddp_group *group;
    ddp_device *device; /* device that the network trains on */
    const ddp_param_table
        *table;       /* table of the host's memory: shapes, and rank 0's first values */
    ddp_state *state; /* where the algorithm declares arrays that are to be saved */
    ddp_network_facts network;
} ddp_algorithm_of;

/* The arguments of ddp_algorithm.attach. */
typedef struct ddp_attached {
    const ddp_param_table *table; /* the network's arrays, in the device's memory */
    uint64_t seed;                /* the run's seed */
    ddp_reducer *reducer;
    int root; /* rank whose state all ranks begin with */
    /* on rank `root`: reader of the optimizer's moments that the run begins with; NULL: the table
     * has them */
    const ddp_sharded_source *first;
} ddp_attached;

/* An algorithm: which options ask for it, what it controls, and its functions. A function or table
 * that is NULL has nothing to do. Calls come in one order on every rank. */
typedef struct ddp_algorithm {
    const char *example; /* words of a command line that ask for it, its option first */
    ddp_claims claims;
    /* With DDP_CONTROLS_ORDER: the subject of "... goes in an order that is fixed"
     * (ddp_launch_policy.fixed), such as "what is compressed". */
    const char *order_subject;

    /* Return 1 if the options ask for the algorithm. */
    int (*is_on)(const ddp_options *o);
    /* Fail with DDP_ERR_USAGE, and say why, if an option of the algorithm's own is wrong by itself.
     * Called also when the algorithm is off. NULL: no option ever is. */
    ddp_status (*check)(const ddp_options *o, ddp_error *err);
    /* Fail with DDP_ERR_USAGE, and say why, if the algorithm does not go with this network, these
     * ranks and this device. NULL: it goes with any. */
    ddp_status (*check_run)(const ddp_algorithm_of *of, ddp_error *err);

    /* Set *self, the algorithm's own data, which close frees; after a failure close is not called.
     * *self stays NULL if there is nothing to do in this run: then only print and print_resumed are
     * called. *of and what it points to may be gone afterwards, but for group, device, state and
     * options.
     */
    ddp_status (*open)(void **self, const ddp_algorithm_of *of, ddp_error *err);
    /* attach: begin the algorithm's work, before the network trains. What `a` points to stays until
     * detach. May be called again after detach. detach: end the work, after the network has
     * trained. Not called if attach has failed. close: free self. */
    ddp_status (*attach)(void *self, const ddp_attached *a, ddp_error *err);
    void (*detach)(void *self);
    void (*close)(void *self);

    int halves; /* 1: each bucket's sum has two halves; the algorithm starts the second */
    /* Tables of functions that a step of training calls (core/gradient_codec.h,
     * algorithms/plugs.h). */
    const ddp_gradient_codec *codec;
    const ddp_update_plug *update;
    const ddp_step_plug *step;
    const ddp_layers_plug *layers;

    /* Return the optimizer's moments of which each rank has parts, while attached. NULL: there are
     * none. */
    ddp_sharded *(*sharded)(const void *self);

    void (*print)(const void *self,
                  FILE *out); /* prints its lines of the banner, while attached; self may be NULL */
    /* Print to stdout what becomes of each rank's own state when a run of `was` ranks goes on on
     * `now` ranks. Called on rank 0. */
    void (*print_resumed)(int was, int now);
    /* Print the algorithm's lines at the end of a run of `steps` steps; self is not NULL. */
    void (*print_end)(const void *self, FILE *out, size_t steps);
} ddp_algorithm;

/* All algorithms, in the order of algorithms.def; NULL after the last. */
extern const ddp_algorithm *const ddp_algorithms[];

/* Return the algorithm with `halves` that these options ask for; NULL: none. The number of ranks
 * does not matter, though one rank alone halves nothing. */
const ddp_algorithm *ddp_algorithms_halving(const ddp_options *o);

#endif
