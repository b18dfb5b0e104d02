/* algorithms/algorithm.h: the interface of an algorithm, an option of training that makes ranks
 * send less, or update differently. PyTorch has such algorithms in torch/distributed/algorithms.
 * The rest of the program reaches an algorithm only through its ddp_algorithm or, for a word of
 * -ddp_compress, its ddp_compression (compression.h).
 *
 * A folder of algorithms/ holds an algorithm's code, its tests and, in NAME.def, any options of its
 * own. A line of algorithms.def makes it part of the program. Without folder and line the program
 * does not know it (scripts/check-removable).
 *
 * An algorithm reads only its own options. It knows neither Darknet nor checkpoints: the module
 * algorithms/ uses core/, and glue/ uses algorithms/. */
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

/* Facts of the network's cfg that algorithms need. */
typedef struct ddp_network_facts {
    size_t max_batches; /* how many steps the run has; 0: not known */
    int burn_in;        /* number of first steps in which the learning rate grows (burn_in=) */
    double ema_alpha;   /* the cfg's ema_alpha=, for an average of the weights; 0: none */
    const ddp_residual_block *blocks; /* blocks without frozen layers, from input to output */
    int block_count;
} ddp_network_facts;

/* The arguments of ddp_algorithm.open: the run that the algorithm is for. */
typedef struct ddp_algorithm_of {
    const ddp_options *options;
    ddp_group *group;
    ddp_device *device;           /* device that the network trains on */
    const ddp_param_table *table; /* the network's parameters, in host memory */
    ddp_state *state;             /* where the algorithm declares the arrays that it keeps */
    ddp_network_facts network;
} ddp_algorithm_of;

/* The arguments of ddp_algorithm.attach. */
typedef struct ddp_attached {
    const ddp_param_table *table; /* the network's parameters, in the device's memory */
    uint64_t seed;                /* the run's seed */
    ddp_reducer *reducer;
    int root; /* rank whose state all ranks begin with */
    /* on root: reads the optimizer's moments that the run begins with; NULL: `table` has them */
    const ddp_sharded_source *saved_moments;
} ddp_attached;

/* An algorithm: which options turn it on, what it controls, and its functions. All functions but
 * is_on, and all tables, may be NULL: the algorithm then has nothing to do there. Every rank makes
 * the same calls in the same order, but for those that print. */
typedef struct ddp_algorithm {
    const char *example; /* words of a command line that turn it on, its option first */
    ddp_claims claims;
    /* with DDP_CONTROLS_ORDER: what is summed in a fixed order, as the subject of a sentence, such
     * as "what is compressed" (ddp_launch_policy.fixed); else NULL */
    const char *order_subject;

    /* Return 1 if the options turn the algorithm on. */
    int (*is_on)(const ddp_options *o);
    /* Fail with DDP_ERR_USAGE, and say why, if the algorithm's own options do not fit
     * together. Called also if the algorithm is off. */
    ddp_status (*check)(const ddp_options *o, ddp_error *err);
    /* Fail with DDP_ERR_USAGE, and say why, if the algorithm cannot work with this network, these
     * ranks or this device. Called before open. */
    ddp_status (*check_run)(const ddp_algorithm_of *of, ddp_error *err);

    /* Set *self to the algorithm's own data: the first argument of its functions, freed by
     * close. Leave it NULL if there is nothing to do in this run: then only print and print_resumed
     * are called. Only of's group, device, state and options outlive the call. After a failure
     * close is not called. */
    ddp_status (*open)(void **self, const ddp_algorithm_of *of, ddp_error *err);
    /* Begin to work on a network that is about to train. *a and a->saved_moments are valid during
     * the call, all else that *a points to until detach. After a failure detach is not called.
     * Fails with DDP_ERR_NOMEM, DDP_ERR_COMM, or on a->root the error of a->saved_moments. */
    ddp_status (*attach)(void *self, const ddp_attached *a, ddp_error *err);
    /* End the work that attach has begun: after training, or because a later part of attaching
     * the network has failed. Does not free self. */
    void (*detach)(void *self);
    /* Free self. */
    void (*close)(void *self);

    /* 1: each rank updates only its own ranges of the parameters, and has moments only for them.
     * Sets ddp_reducer_config.sharded */
    int sharded;
    /* Functions that a training step calls (core/gradient_codec.h, algorithms/plugs.h). */
    const ddp_gradient_codec *codec;
    const ddp_update_plug *update;
    const ddp_step_plug *step;
    const ddp_layers_plug *layers;

    /* Return the optimizer's moments, which self owns; NULL while not attached. Required if
     * `sharded` is 1. */
    ddp_sharded *(*moments)(const void *self);

    /* Print the algorithm's lines at the beginning of a run, while attached. self may be NULL. */
    void (*print)(const void *self, FILE *out);
    /* On rank 0: print to stdout what becomes of the data that each rank keeps for itself, if a run
     * of `was` ranks goes on with `now` ranks. */
    void (*print_resumed)(int was, int now);
    /* Print the algorithm's lines at the end of a run of `steps` steps. self is not NULL. */
    void (*print_end)(const void *self, FILE *out, size_t steps);
} ddp_algorithm;

/* All algorithms, in the order of algorithms.def; NULL after the last. */
extern const ddp_algorithm *const ddp_algorithms[];

/* Return the algorithm with `sharded` 1 that the options turn on; NULL: none. The number of ranks
 * does not matter. */
const ddp_algorithm *ddp_algorithms_find_sharded(const ddp_options *o);

#endif
