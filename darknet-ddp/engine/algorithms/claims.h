/* algorithms/claims.h: finds options of training that exclude each other. An option claims what it
 * controls, which guarantees of a plain run it breaks, and on which it relies. Two options exclude
 * each other if both control the same thing, or if one breaks a guarantee on which the other
 * relies. So nobody lists pairs of them. */
#ifndef DDP_ALGORITHMS_CLAIMS_H
#define DDP_ALGORITHMS_CLAIMS_H

#include "base/status.h"
#include "options/options.h"

#include <stddef.h>

/* Bits of the things that an option may control. */
enum {
    DDP_CONTROLS_SUM = 1,        /* how a bucket of gradients becomes a sum */
    DDP_CONTROLS_UPDATE = 2,     /* which rank updates which parameters */
    DDP_CONTROLS_ORDER = 4,      /* in which order, and in what pieces, sums start */
    DDP_CONTROLS_STEPS = 8,      /* which steps sum gradients */
    DDP_CONTROLS_LAYERS = 16,    /* which layers a step leaves out */
    DDP_CONTROLS_STATISTICS = 32 /* how ranks get the same statistics of BatchNorm */
};

/* Bits of the guarantees of a plain run. */
enum {
    /* a run on another number of ranks has the same results, but for rounding; with -ddp_exact it
     * has the same bits */
    DDP_GUARANTEE_EXACT = 1,
    DDP_GUARANTEE_DROP = 2,  /* a step can be skipped until its first layer is updated */
    DDP_GUARANTEE_SUMS = 4,  /* every update uses the gradients of all ranks */
    DDP_GUARANTEE_PLAIN = 8, /* the commands of `darknet ddp` can simulate a step */
    DDP_GUARANTEE_FP32 = 16  /* nothing is computed in fewer bits than float32 */
};

typedef struct ddp_claims {
    unsigned controls; /* bits DDP_CONTROLS_... of what the option controls */
    unsigned breaks;   /* bits DDP_GUARANTEE_... that the option breaks */
    unsigned relies;   /* bits DDP_GUARANTEE_... on which the option relies */
} ddp_claims;

/* An option that makes claims: an algorithm's (algorithms/algorithm.h), or another one. */
typedef struct ddp_claimant {
    const char *example; /* words of a command line that turn the option on, its name first */
    ddp_claims claims;
    int (*is_on)(const ddp_options *o);
} ddp_claimant;

/* Set *out to claimant number i, from 0, and return 1. Returns 0 if there are only i claimants;
 * call it with no larger i. Algorithms come last, in the order of algorithms.def. */
int ddp_claimant_at(size_t i, ddp_claimant *out);

/* Return 1 if options with the claims a and b exclude each other. */
int ddp_claims_exclude(const ddp_claims *a, const ddp_claims *b);

/* Return the name of the DDP_CONTROLS_... with the value 1 << bit, for `darknet ddp options -json`;
 * NULL: there is none. */
const char *ddp_controls_name(size_t bit);
/* Return the name of the DDP_GUARANTEE_... with the value 1 << bit, for `darknet ddp options
 * -json`; NULL: there is none. */
const char *ddp_guarantee_name(size_t bit);

/* Fail with DDP_ERR_USAGE if two of the options exclude each other, or if an algorithm refuses its
 * own options (ddp_algorithm.check). With is_ddp_command 1, fail also if an option breaks
 * DDP_GUARANTEE_PLAIN, since commands of `darknet ddp` simulate plain steps. */
ddp_status ddp_claims_check(const ddp_options *o, int is_ddp_command,
                            ddp_error *err) DDP_MUST_CHECK;

#endif
