/* algorithms/algorithm.h: a way to send less, or to update otherwise: what there is of it outside
 * of its folder. PyTorch's folder for the same is torch/distributed/algorithms.
 *
 * A folder of algorithms/ holds all of one: its rows of the table of options (NAME.def), what it
 * goes with, what it does, its lines of a run's banner, and its tests. One line of algorithms.def
 * makes it part of the program; without folder and line nothing of it is left
 * (scripts/check-removable).
 *
 * The room algorithms/ stands between core/ and glue/: it knows neither Darknet nor checkpoints. Of
 * options a folder reads those of its own rows.
 */
#ifndef DDP_ALGORITHMS_ALGORITHM_H
#define DDP_ALGORITHMS_ALGORITHM_H

#include "algorithms/claims.h"
#include "base/status.h"
#include "options/options.h"

typedef struct ddp_algorithm {
    const char *name;    /* of the folder */
    const char *example; /* words of a command line that ask for it; the first is its option */
    ddp_claims claims;
    /* Of one that decides the order of sums: what goes in that order, for a sentence. */
    const char *sums;

    /* Does the command line ask for it? */
    int (*is_on)(const ddp_options *o);
    /* Is what the rows of this folder ask for sound by itself, on or not? DDP_ERR_USAGE: why not.
     * NULL: always. */
    ddp_status (*check)(const ddp_options *o, ddp_error *err);
} ddp_algorithm;

/* In the order of algorithms.def; NULL behind the last. */
extern const ddp_algorithm *const ddp_algorithms[];

#endif
