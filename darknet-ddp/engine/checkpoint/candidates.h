/* checkpoint/candidates.h: the files of a name in a folder that a start may go on from, in the
 * order in which they are tried. For checkpoint/find.c alone. */
#ifndef DDP_CHECKPOINT_CANDIDATES_H
#define DDP_CHECKPOINT_CANDIDATES_H

#include "checkpoint/checkpoint.h"

#include <time.h>

/* A state file and the weights file that it would belong to, or weights without a state file. */
struct ddp_candidate {
    char *weights, *state; /* paths; state NULL: there is none */
    int is_part;           /* 1: state is X.state.part */
    int is_numbered;       /* 1: weights is BASE_<number>.weights */
    ddp_checkpoint_metadata metadata;
    ddp_status status; /* result of reading the metadata */
    ddp_error error;
    /* How new weights are whose state does not tell: by the images that they count, then by the
     * file system's clock, which copying changes. */
    uint64_t seen;
    struct timespec time;
};

/* A list of them. All zero: it is empty. */
struct ddp_candidates {
    struct ddp_candidate *list;
    size_t count, room; /* entries in use, and allocated */
};

/* List the files of base in directory, newest first: those whose header is damaged, then those
 * whose header tells when they were saved, then weights without a state. Release *all, which is all
 * zero at first, in any case. Fails with DDP_ERR_IO (the directory cannot be read), DDP_ERR_NOMEM.
 */
ddp_status ddp_candidates_list(struct ddp_candidates *all, const char *directory, const char *base,
                               ddp_error *err) DDP_MUST_CHECK;

/* Free the list. */
void ddp_candidates_release(struct ddp_candidates *all);

#endif
