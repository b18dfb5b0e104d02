/* algorithms/claims.h: which options exclude each other. Each option that changes how a run trains
 * says what it controls, which guarantees of a plain run it breaks, and on which it relies. Which
 * options exclude each other follows from that, and no file lists pairs. Pure functions. */
#ifndef DDP_ALGORITHMS_CLAIMS_H
#define DDP_ALGORITHMS_CLAIMS_H

#include "base/status.h"
#include "options/options.h"

#include <stddef.h>

/* Bits of things that an option may control. Two that control one thing exclude each other. */
enum {
    DDP_CONTROLS_SUM = 1,        /* how a bucket of gradients becomes a sum */
    DDP_CONTROLS_UPDATE = 2,     /* who updates what */
    DDP_CONTROLS_ORDER = 4,      /* in which order, and in what pieces, sums start */
    DDP_CONTROLS_STEPS = 8,      /* which steps sum gradients */
    DDP_CONTROLS_LAYERS = 16,    /* which layers a step has */
    DDP_CONTROLS_STATISTICS = 32 /* how ranks come to have the same statistics of BatchNorm */
};

/* Bits of guarantees of a plain run. An option that breaks one excludes those that rely on it. */
enum {
    DDP_GUARANTEE_EXACT =
        1, /* results depend on the number of ranks by rounding alone (-ddp_exact) */
    DDP_GUARANTEE_DROP = 2,  /* a step can be dropped until the first layer is updated */
    DDP_GUARANTEE_SUMS = 4,  /* every update is made of all ranks' gradients */
    DDP_GUARANTEE_PLAIN = 8, /* `darknet ddp plan` and `bench` can simulate a step */
    DDP_GUARANTEE_FP32 = 16  /* nothing computes in less than float32 */
};

typedef struct ddp_claims {
    unsigned controls;       /* bits DDP_CONTROLS_...: what the option controls */
    unsigned breaks, relies; /* bits DDP_GUARANTEE_...: which it breaks, and on which it relies */
} ddp_claims;

/* An algorithm (algorithms/algorithm.h), or an option of reducer, trainer or Darknet. */
typedef struct ddp_claimant {
    const char *example; /* words of a command line that ask for it, the option first */
    ddp_claims claims;
    int (*is_on)(const ddp_options *o);
} ddp_claimant;

/* Set *out to the i-th claimant, from 0, and return 1. Returns 0 if i is one beyond the last; a
 * larger i is not allowed. Algorithms come last, in the order of their table. */
int ddp_claimant_at(size_t i, ddp_claimant *out);

/* A sentence "A does not go with B: why". */
typedef struct ddp_conflict {
    /* 1: A is the argument b of ddp_claims_conflict, and B is a; 0: A is a, and B is b */
    int reversed;
    const char *why; /* end of the sentence, with its colon: ": both ..."; static */
} ddp_conflict;

/* Return 1 if a and b exclude each other, and set *out; else 0, with *out all zero. */
int ddp_claims_conflict(const ddp_claims *a, const ddp_claims *b, ddp_conflict *out);

/* Return the name of bit number `bit` of DDP_CONTROLS_..., from 0, as `darknet ddp options -json`
 * has it; NULL: there are no more bits. */
const char *ddp_controls_name(size_t bit);
/* Return the name of bit number `bit` of DDP_GUARANTEE_..., from 0; NULL: there are no more bits.
 */
const char *ddp_guarantee_name(size_t bit);

/* Fail with DDP_ERR_USAGE if options exclude each other, or one has a value that its algorithm
 * refuses (ddp_algorithm.check). With is_ddp_command 1, the options are those of a command of
 * `darknet ddp`, which refuses what breaks DDP_GUARANTEE_PLAIN; with 0, those of a run that trains.
 */
ddp_status ddp_claims_check(const ddp_options *o, int is_ddp_command,
                            ddp_error *err) DDP_MUST_CHECK;

#endif
