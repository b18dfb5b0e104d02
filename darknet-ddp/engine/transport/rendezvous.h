/* transport/rendezvous.h: how ranks of Gloo find each other without MPI: by files on a file system
 * that all of them see.
 *
 * Rank r writes the file PATH.r, which only its user can read, and reads the other ranks' files.
 * Each start of a rank draws a number, and its file lists the numbers of the others that it has
 * seen. A rank trusts another's file only if the number that it drew itself is listed there. So
 * files of an earlier start do no harm, and need not be removed before. */
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

/* Choose how ranks find each other in groups of "gloo" that are opened later: by MPI if config is
 * NULL, else by files. *config is copied, but its path must stay valid. */
void ddp_group_use_rendezvous(const ddp_rendezvous_config *config);

/* Return the config that ddp_group_use_rendezvous has copied; NULL: none. */
const ddp_rendezvous_config *ddp_group_rendezvous(void);

typedef struct ddp_rendezvous ddp_rendezvous;

/* Write this rank's file, and wait until all ranks have come. *config is copied, but its path must
 * outlive *out. *out is set on success; end it with ddp_rendezvous_close or ddp_rendezvous_give_up.
 *
 *   DDP_ERR_USAGE  another process has this rank's number, or a rank has another size; this rank's
 *                  file stays, so that the other rank sees it, too
 *   DDP_ERR_COMM   a rank, which the text names, has not come in time
 *   DDP_ERR_IO     a file cannot be written
 *   DDP_ERR_NOMEM
 */
ddp_status ddp_rendezvous_open(ddp_rendezvous **out, const ddp_rendezvous_config *config,
                               ddp_error *err) DDP_MUST_CHECK;

/* Copy mine[0..bytes) of each rank i to all[i * bytes .. (i + 1) * bytes) of every rank, by the
 * files. Every rank calls it, with an equal `bytes`; blocks until all have. Fails with DDP_ERR_COMM
 * if a rank does not come in time or has started again, and with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_rendezvous_gather(ddp_rendezvous *r, const void *mine, void *all, size_t bytes,
                                 ddp_error *err) DDP_MUST_CHECK;

/* Remove this rank's file, unless another process has written it since, and free r; NULL is
 * allowed. Call after a success, when all others have read the file. After a failure call
 * ddp_rendezvous_give_up instead. */
void ddp_rendezvous_close(ddp_rendezvous *r);

/* Free r; NULL is allowed. This rank's file stays. Call after a failure, so that the other ranks
 * read the file and fail for the same reason. */
void ddp_rendezvous_give_up(ddp_rendezvous *r);

#endif
