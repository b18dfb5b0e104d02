/* checkpoint/pair.h: a weights file X and its state X.state, of which one complete pair is on the
 * disk at any moment after the first save.
 *
 * Saving writes both into parts (base/file.h); the state has the hash of the weights file. When
 * both are on the disk the state is named X.state.part, the weights X, and X.state.part then
 * X.state. If the process dies before the second rename, the old pair is left. If it dies between
 * the second and the third rename, X is new and X.state.part matches it; that is a complete pair
 * too.
 *
 * checkpoint/find.h has the names of pairs, and which of them wins. */
#ifndef DDP_CHECKPOINT_PAIR_H
#define DDP_CHECKPOINT_PAIR_H

#include "base/status.h"
#include "checkpoint/checkpoint.h"

#include <stdio.h>

/* A function that writes a weights file to fp. It need not look for write errors. */
typedef struct ddp_weights_writer {
    void (*write)(void *ctx, FILE *fp);
    void *ctx;
} ddp_weights_writer;

/* A pair whose two files were written under other names, and may not be on the disk yet. */
typedef struct ddp_pair_writing ddp_pair_writing;

/* Write both files of the pair of path under other names: the first half of ddp_pair_save. Sets in
 * c's metadata the size and hash of the weights file, and the time. Afterwards only *c->guard is
 * used, which must outlive *out; c and weights need not. *out is set on success; end it with
 * ddp_pair_finish or ddp_pair_abandon. Several may be begun, of one path too. Fails as
 * ddp_pair_save; a full disk may be found only by ddp_pair_finish. */
ddp_status ddp_pair_write(ddp_pair_writing **out, const char *path, ddp_checkpoint *c,
                          const ddp_weights_writer *weights, ddp_error *err) DDP_MUST_CHECK;

/* Return the metadata of the state that was written; valid until w is finished or abandoned. */
const ddp_checkpoint_metadata *ddp_pair_metadata(const ddp_pair_writing *w);

/* Sync both files to the disk and give them their names: the second half of ddp_pair_save. From any
 * thread, one pair at a time, pairs of one path in the order of their writing. Frees w, also on
 * failure. Fails as ddp_pair_save. */
ddp_status ddp_pair_finish(ddp_pair_writing *w, ddp_error *err) DDP_MUST_CHECK;

/* Remove both files and free w. NULL is allowed. */
void ddp_pair_abandon(ddp_pair_writing *w);

/* Save the pair of path; blocks until it is on the disk. Sets c's metadata: size and hash of the
 * weights file, and saved_at_ns, which becomes later than it was, whatever the clock says. On
 * failure the last complete pair of path is still there. Fails with DDP_ERR_IO, which says which
 * file and why (a full disk, a quota). Fails also with DDP_ERR_NOMEM, as ddp_checkpoint_write, and
 * as c->guard. */
ddp_status ddp_pair_save(const char *path, ddp_checkpoint *c, const ddp_weights_writer *weights,
                         ddp_error *err) DDP_MUST_CHECK;

/* Save the pair of path as a copy of the pair of `from`, saved_at_ns included. Fails with
 * DDP_ERR_IO, and copies nothing, if the pair of `from` was not saved at saved_at_ns. guard: as in
 * ddp_checkpoint; NULL: none. Fails also as ddp_pair_save and ddp_checkpoint_read. */
ddp_status ddp_pair_copy(const char *path, const char *from, uint64_t saved_at_ns,
                         const ddp_checkpoint_guard *guard, ddp_error *err) DDP_MUST_CHECK;

#endif
