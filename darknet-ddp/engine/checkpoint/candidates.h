/* checkpoint/candidates.h: lists the checkpoints of a run's name in a folder, in four groups. Only
 * checkpoint/find.c uses it. */
#ifndef DDP_CHECKPOINT_CANDIDATES_H
#define DDP_CHECKPOINT_CANDIDATES_H

#include "checkpoint/checkpoint.h"

#include <time.h>

/* A state file and its weights file, or a weights file without a state file. */
struct ddp_candidate {
    char *weights, *state; /* paths of the files; `state` is NULL if there is none */
    int is_part;           /* 1: state is X.state.part, of a save that was interrupted */
    int is_numbered;       /* 1: the weights' name is BASE_<number>.weights */
    int is_bare;           /* 1: there is no state file, or one with only its header */
    ddp_checkpoint_metadata metadata;
    /* result of reading the header of `state`; DDP_ERR_FORMAT: also if `state` is NULL */
    ddp_status status;
    ddp_error error; /* why the state cannot be used (status is not DDP_OK, or is_bare is 1) */
    /* Age of the weights: how many images the weights file counts, and when it was last changed.
     * Both are 0 if the weights are not there, or the state can be used. */
    uint64_t seen;
    struct timespec time;
};

/* A list of candidates, empty if all zero. */
struct ddp_candidates {
    struct ddp_candidate *list;
    size_t count, room; /* entries of `list` that are used, and that have memory */
};

/* List the candidates of a run's name, base, in directory, by the names of files: a state may still
 * say another base. There are four groups, each with its newest file first:
 *   1. state files with a wrong header or length, or that cannot be read
 *   2. state files with a whole header, cfg and arrays
 *   3. state files with only their header
 *   4. weights without a state file
 * *all must be all zero; release it, also on failure. Fails with DDP_ERR_IO (the directory cannot
 * be read), DDP_ERR_NOMEM. */
ddp_status ddp_candidates_list(struct ddp_candidates *all, const char *directory, const char *base,
                               ddp_error *err) DDP_MUST_CHECK;

/* Free what *all holds; its pointers are then invalid. *all may be all zero. */
void ddp_candidates_release(struct ddp_candidates *all);

#endif
