/* checkpoint/pair.h: saves a checkpoint as a pair of files, weights X and their state X.state. If a
 * save replaces an earlier pair, one complete pair is on the disk at any moment.
 *
 * A save takes these steps:
 *   1. write both files under temporary names, as parts (base/file.h); the state has X's hash
 *   2. sync both to the disk
 *   3. rename the state's part to X.state.part, the weights' part to X, and X.state.part to X.state
 *
 * If the process dies before X is renamed, the old pair is left. If it dies just after, X is new
 * and X.state.part belongs to it: that is a complete pair, too (ddp_match_finish_save).
 *
 * checkpoint/find.h has the names of pairs, and says which of them wins. */
#ifndef DDP_CHECKPOINT_PAIR_H
#define DDP_CHECKPOINT_PAIR_H

#include "base/status.h"
#include "checkpoint/checkpoint.h"

#include <stdio.h>

/* Writes a weights file to fp. It need not look for write errors. */
typedef struct ddp_weights_writer {
    void (*write)(void *ctx, FILE *fp);
    void *ctx;
} ddp_weights_writer;

/* A pair whose two files are written under temporary names, and may not be on the disk yet. */
typedef struct ddp_pair_writing ddp_pair_writing;

/* Write both files of the pair of path under temporary names. Several pairs may be begun, also of
 * one path. *out is set on success; end it with ddp_pair_finish or ddp_pair_abandon. Until then
 * *c->guard must stay; nothing else of c must. Sets saved_at_ns, weights_bytes and weights_hash of
 * c->metadata. Fails with DDP_ERR_IO, or an error of ddp_checkpoint_write. A full disk may be found
 * only by ddp_pair_finish. */
ddp_status ddp_pair_write(ddp_pair_writing **out, const char *path, ddp_checkpoint *c,
                          const ddp_weights_writer *weights, ddp_error *err) DDP_MUST_CHECK;

/* Return the metadata that were written; valid until w is finished or abandoned. */
const ddp_checkpoint_metadata *ddp_pair_metadata(const ddp_pair_writing *w);

/* Sync both files to the disk, and give them their names. Frees w, also on failure; then the old
 * pair, or the new one, is complete on the disk. Call it from any thread, for one pair at a time,
 * and for pairs of one path in the order in which they were written. Fails with DDP_ERR_IO,
 * DDP_ERR_NOMEM, or the error of the guard that ddp_pair_write got in c. */
ddp_status ddp_pair_finish(ddp_pair_writing *w, ddp_error *err) DDP_MUST_CHECK;

/* Remove both temporary files and free w. NULL is allowed. */
void ddp_pair_abandon(ddp_pair_writing *w);

/* Save c and its weights as the pair of path, by ddp_pair_write and ddp_pair_finish. Blocks until
 * both files are on the disk. Fails as ddp_pair_write and ddp_pair_finish: the old pair, or the new
 * one, is then complete on the disk. */
ddp_status ddp_pair_save(const char *path, ddp_checkpoint *c, const ddp_weights_writer *weights,
                         ddp_error *err) DDP_MUST_CHECK;

/* Save a copy of the pair of `from` as the pair of path, with the same saved_at_ns.
 *   saved_at_ns   that of the pair to copy; if `from` has another pair, fails with DDP_ERR_IO
 *   guard         as in ddp_checkpoint; NULL: none
 * Fails also as ddp_pair_save and ddp_checkpoint_read. */
ddp_status ddp_pair_copy(const char *path, const char *from, uint64_t saved_at_ns,
                         const ddp_checkpoint_guard *guard, ddp_error *err) DDP_MUST_CHECK;

#endif
