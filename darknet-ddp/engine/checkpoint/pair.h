/* checkpoint/pair.h: a weights file X and its state X.state, of which one complete
 * pair is on the disk at any moment, once one was saved.
 *
 * Saving writes both into parts (base/file.h); the state has the hash of the weights file. When
 * both are on the disk the state is named X.state.part, the weights X, and X.state.part then
 * X.state. If the process dies before the second rename, the old pair is left. If it dies between
 * the second and the third rename, X is new and X.state.part matches it; that is a complete pair
 * too.
 *
 * The pairs of a base name are BASE.backup, BASE_<number>.weights, BASE_final.weights,
 * BASE_last.weights, BASE_best.weights, BASE_best_<number>.weights, BASE_final_<number>.weights and
 * BASE.weights, each with its state; of `go` also BASE_<number>.backup.
 */
#ifndef DDP_CHECKPOINT_PAIR_H
#define DDP_CHECKPOINT_PAIR_H

#include "base/status.h"
#include "checkpoint/checkpoint.h"

#include <stdio.h>

/* Writes a weights file; write errors are found without it. */
typedef struct ddp_weights_writer {
    void (*write)(void *ctx, FILE *fp);
    void *ctx;
} ddp_weights_writer;

/* A pair whose parts have been written, and may not be on the disk yet. */
typedef struct ddp_pair_writing ddp_pair_writing;

/* The first half of ddp_pair_save, below: write both parts, which takes c and weights, and is done
 * with them then. *out is set on success; end it with ddp_pair_finish or ddp_pair_abandon. Several
 * may be begun, of one path too. Fails as ddp_pair_save; a full disk may first be told by
 * ddp_pair_finish. */
ddp_status ddp_pair_write(ddp_pair_writing **out, const char *path, ddp_checkpoint *c,
                          const ddp_weights_writer *weights, ddp_error *err) DDP_MUST_CHECK;

/* What the state says. */
const ddp_checkpoint_metadata *ddp_pair_metadata(const ddp_pair_writing *w);

/* The second half, from any thread: make sure of both parts and give them their names, of one pair
 * at a time in the order of their writing. Frees w. Fails as ddp_pair_save. */
ddp_status ddp_pair_finish(ddp_pair_writing *w, ddp_error *err) DDP_MUST_CHECK;

/* Remove the parts and free w. NULL is allowed. */
void ddp_pair_abandon(ddp_pair_writing *w);

/* Save the pair of path. c's metadata get the weights file's size and hash, and the time,
 * which is in any case later than the saved_at_ns that is there.
 * On failure the last complete pair of path is still there. DDP_ERR_IO says which file, and
 * why: a full disk, a quota. Fails also with DDP_ERR_NOMEM and as ddp_checkpoint_write. */
ddp_status ddp_pair_save(const char *path, ddp_checkpoint *c, const ddp_weights_writer *weights,
                         ddp_error *err) DDP_MUST_CHECK;

/* Save the pair of path as a copy of that of `from`, with the same time, which must be this: else
 * it is another one. guard: as a ddp_checkpoint's. Fails as ddp_pair_save, and as
 * ddp_checkpoint_read. */
ddp_status ddp_pair_copy(const char *path, const char *from, uint64_t saved_at_ns,
                         const ddp_checkpoint_guard *guard, ddp_error *err) DDP_MUST_CHECK;

/* Hears why a pair was passed over: a sentence. */
typedef struct ddp_pair_listener {
    void (*note)(void *ctx, const char *sentence);
    void *ctx;
} ddp_pair_listener;

typedef struct ddp_pair {
    char *weights; /* path; NULL: there is no complete pair */
    ddp_checkpoint checkpoint;
    int passed_over; /* so many of base that seemed newer, and of which a sentence told */
    char *damaged; /* where there is none: the newest weights file, by the images that it counts, of
                      a pair that is damaged, or one without a state; NULL: there is none either */
} ddp_pair;

/* Is this the name of a weights or state file, or of a part of one, that runs of base's name save?
 */
int ddp_pair_has_file(const char *file, const char *base);

/* Are weights of base in directory that have no state file? Those with a number do not count. */
int ddp_pair_lacks_state(const char *directory, const char *base);

/* Find the complete pair of base in directory that was saved last (by saved_at_ns, then
 * step), and finish the save that left it, if that was interrupted. Damaged pairs that
 * seem newer are passed over with a sentence, and so are those that hold a number that is not
 * finite, and weights without a state file that count more images. Release *out with
 * ddp_pair_release, in any case. That there is none is no error, unless one was passed over whose
 * weights file is there, or weights have no state: DDP_ERR_FORMAT, since somebody who wants to
 * resume means these. Fails also with DDP_ERR_IO (the directory cannot be read), DDP_ERR_NOMEM. */
ddp_status ddp_pair_find(ddp_pair *out, const char *directory, const char *base,
                         const ddp_pair_listener *listener, ddp_error *err) DDP_MUST_CHECK;

void ddp_pair_release(ddp_pair *p);

/* What the headers of states say. */
typedef struct ddp_pair_header {
    char *weights;            /* path; NULL: there is none. The caller frees it */
    uint64_t step, seen;      /* batches, images */
    uint64_t own_saved_at_ns; /* of weights */
    uint64_t saved_at_ns;     /* the latest of all files of such names, those of other cfgs too */
    int has_state;            /* there is a state file, with weights or without, whole or damaged */
} ddp_pair_header;

/* Of base in directory the one that was saved last whose header is whole and whose weights file is
 * there; all zero if there are none. A run that saves after that, in its
 * ddp_checkpoint_metadata.saved_at_ns, is newer than all that is there, whatever the clock says.
 * Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_pair_latest(ddp_pair_header *out, const char *directory, const char *base,
                           ddp_error *err) DDP_MUST_CHECK;

/* Remove all pairs BASE_<number>.weights but the `keep` that were saved last. Only a weights file
 * whose state has a whole header, and names this base and has come to that number, counts: no copy
 * of a user's own. Weights that their state does not describe stay, too: all beyond the `keep` are
 * read. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_pair_prune(const char *directory, const char *base, size_t keep,
                          ddp_error *err) DDP_MUST_CHECK;

#endif
