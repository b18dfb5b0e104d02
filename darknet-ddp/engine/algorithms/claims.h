/* algorithms/claims.h: which options exclude each other. Each option that changes how a run trains
 * says what it controls, which guarantees of a plain run it breaks, and on which it relies. Which
 * options exclude each other follows from that, and no file lists pairs. Pure functions. */
#ifndef DDP_ALGORITHMS_CLAIMS_H
#define DDP_ALGORITHMS_CLAIMS_H

#include "base/status.h"
#include "options/options.h"

#include <stddef.h>

/* The things that an option may control. Two options that control the same one exclude each other.
 */
enum {
    DDP_CONTROLS_SUM = 1,        /* how a bucket of gradients becomes a sum */
    DDP_CONTROLS_UPDATE = 2,     /* who updates what */
    DDP_CONTROLS_ORDER = 4,      /* in which order, and in what pieces, sums start */
    DDP_CONTROLS_STEPS = 8,      /* which steps sum gradients */
    DDP_CONTROLS_LAYERS = 16,    /* which layers a step has */
    DDP_CONTROLS_STATISTICS = 32 /* how ranks come to have the same statistics of BatchNorm */
};

/* Guarantees of a plain run: an option that breaks one excludes an option that relies on it. */
enum {
    DDP_GUARANTEE_EXACT =
        1, /* -ddp_exact: results depend on the number of ranks by rounding alone */
    DDP_GUARANTEE_DROP = 2,  /* a step can be dropped until the first layer is updated */
    DDP_GUARANTEE_SUMS = 4,  /* every update is made of all ranks' gradients */
    DDP_GUARANTEE_PLAIN = 8, /* `darknet ddp plan` and bench know how steps are */
    DDP_GUARANTEE_FP32 = 16  /* nothing computes in less than float32 */
};

typedef struct ddp_claims {
    unsigned controls;       /* DDP_CONTROLS_... */
    unsigned breaks, relies; /* DDP_GUARANTEE_... */
} ddp_claims;

/* Who claims: an algorithm (algorithms/algorithm.h), or an option of the reducer's, the trainer's
 * or Darknet's own. */
typedef struct ddp_claimant {
    const char *example; /* words of a command line that ask for it; the first is the option */
    ddp_claims claims;
    int (*is_on)(const ddp_options *o);
} ddp_claimant;

/* Set *out to the i-th claimant, from 0. Returns 0 if there are no more. Algorithms come last, in
 * the order of their table. */
int ddp_claimant_at(size_t i, ddp_claimant *out);

/* Do two exclude each other? `why` is then the end of the sentence "A does not go with B"; 0: they
 * do not. A and B stand as *first and *second (0: a, 1: b) say. */
typedef struct ddp_conflict {
    int reversed; /* the sentence begins with b */
    const char *why;
} ddp_conflict;

int ddp_claims_conflict(const ddp_claims *a, const ddp_claims *b, ddp_conflict *out);

/* Names of the bits of `controls`, and of guarantees, as `darknet ddp options -json` has them;
 * NULL: there are no more. */
const char *ddp_controls_name(size_t bit);
const char *ddp_guarantee_name(size_t bit);

/* After options were parsed, of a command of `darknet ddp` or of a run that trains. DDP_ERR_USAGE:
 * two of them do not go together, one does not go with the command, or an algorithm's own check
 * (ddp_algorithm.check) says no. */
ddp_status ddp_claims_check(const ddp_options *o, int is_ddp_command,
                            ddp_error *err) DDP_MUST_CHECK;

#endif
