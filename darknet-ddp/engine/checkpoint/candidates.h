/* checkpoint/candidates.h: lists the files of a run's name in a folder that a start may go on from,
 * in the order in which they are tried. For checkpoint/find.c alone. */
#ifndef DDP_CHECKPOINT_CANDIDATES_H
#define DDP_CHECKPOINT_CANDIDATES_H

#include "checkpoint/checkpoint.h"

#include <time.h>

/* A state file and the weights file that it would belong to, or weights without a state file. */
struct ddp_candidate {
    char *weights, *state; /* paths of both; state is NULL if there is none */
    int is_part;           /* 1: state is X.state.part, of a save that did not end */
    int is_numbered;       /* 1: the weights' name is BASE_<number>.weights */
    int is_bare;           /* 1: there is no state, or only its header */
    ddp_checkpoint_metadata metadata;
    ddp_status status; /* how reading metadata from state ended; DDP_ERR_FORMAT without a state */
    ddp_error error;   /* why status is not DDP_OK, or why is_bare is 1 */
    /* Age of weights whose state cannot be used, else 0 (status is DDP_OK and is_bare 0): images
     * that the weights file counts, and when it was last changed or copied. */
    uint64_t seen;
    struct timespec time;
};

/* A list of candidates. All zero: it is empty. */
struct ddp_candidates {
    struct ddp_candidate *list;
    size_t count, room; /* entries of `list`: count in use, room allocated */
};

/* List the candidates of a run's name, base, in directory. State files whose header is damaged come
 * first, then whole headers with cfg and arrays, then state files of which only the header is left,
 * then weights without a state. Each of these four groups has its newest file first. *all must be
 * all zero; release it, also on failure. Fails with DDP_ERR_IO (the directory cannot be read),
 * DDP_ERR_NOMEM. */
ddp_status ddp_candidates_list(struct ddp_candidates *all, const char *directory, const char *base,
                               ddp_error *err) DDP_MUST_CHECK;

/* Free what *all holds; *all may be all zero. Its pointers are invalid afterwards. */
void ddp_candidates_release(struct ddp_candidates *all);

#endif
