/* transport/rendezvous.h: ranks find each other by files, without a launcher that knows them.
 *
 * Rank r writes the file PATH.r, whole or not at all, on a file system that all ranks see. It reads
 * the files of the others; other users cannot. Each start of a rank draws a number, and a rank's
 * file says which numbers of the others it has seen. A file counts only if it lists the number that
 * this start has drawn. So a file of an earlier start is never believed, and none needs to be
 * removed before. */
#ifndef DDP_TRANSPORT_RENDEZVOUS_H
#define DDP_TRANSPORT_RENDEZVOUS_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ddp_rendezvous_config {
    const char *path; /* PATH, the beginning of the files' names */
    int rank, size;
    /* longest wait: of ddp_rendezvous_open for all others together, of ddp_rendezvous_gather for
     * each of them in turn; 0: for ever */
    int64_t timeout_ns;
} ddp_rendezvous_config;

/* Choose how the ranks of Gloo's groups that are opened later find each other: by files as *config
 * says. *config is copied, but its path must stay valid. With NULL, they find each other by MPI. */
void ddp_group_use_rendezvous(const ddp_rendezvous_config *config);

/* Return the config of ddp_group_use_rendezvous; NULL: none. */
const ddp_rendezvous_config *ddp_group_rendezvous(void);

typedef struct ddp_rendezvous ddp_rendezvous;

/* Write this rank's file, and wait until all ranks have come. *config is copied, but its path must
 * outlive *out. *out is set on success; end it with ddp_rendezvous_close or
 * ddp_rendezvous_give_up. Fails with DDP_ERR_USAGE if another process has this rank, or a rank's
 * config has another size. Fails with DDP_ERR_COMM if a rank has not come in time;
 * the text names it. Fails with DDP_ERR_IO if a file cannot be written, and with DDP_ERR_NOMEM.
 * After DDP_ERR_USAGE this rank's file stays, for the other to see it; else it is removed. */
ddp_status ddp_rendezvous_open(ddp_rendezvous **out, const ddp_rendezvous_config *config,
                               ddp_error *err) DDP_MUST_CHECK;

/* Copy mine[0..bytes) of each rank r to all[r * bytes .. (r + 1) * bytes) of every rank, by the
 * files. Every rank calls it with the same bytes; blocks. Fails with DDP_ERR_COMM if a rank
 * does not answer in time or has started again, and with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_rendezvous_gather(ddp_rendezvous *r, const void *mine, void *all, size_t bytes,
                                 ddp_error *err) DDP_MUST_CHECK;

/* Remove this rank's file, unless another process has written it, and free r. Call when all others
 * have read the file, or none shall. NULL is allowed. */
void ddp_rendezvous_close(ddp_rendezvous *r);

/* Free r, and leave this rank's file, so that others read it and fail for the same reason. NULL is
 * allowed. */
void ddp_rendezvous_give_up(ddp_rendezvous *r);

#endif
