/* transport/rendezvous.h: ranks find each other by files, without a launcher that knows them.
 *
 * Rank r writes the file PATH.r, whole or not at all, on a file system that all ranks see, and
 * reads the others'; other users read none. Each start of a rank draws a number, and a rank's file
 * says which numbers of the others it has seen. A file counts only if it lists the number that this
 * start has drawn: a file that an earlier start left is never believed, and nothing needs to be
 * removed before. Nothing here blocks for ever. */
#ifndef DDP_TRANSPORT_RENDEZVOUS_H
#define DDP_TRANSPORT_RENDEZVOUS_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ddp_rendezvous_config {
    const char *path; /* what the files' names begin with */
    int rank, size;
    int64_t timeout_ns; /* of each wait for the others; 0: for ever */
} ddp_rendezvous_config;

/* Before opening a group whose ranks have no other way to find each other; for all groups. The path
 * must stay. NULL: none. */
void ddp_group_use_rendezvous(const ddp_rendezvous_config *config);

/* As the last one was told; NULL: nothing. */
const ddp_rendezvous_config *ddp_group_rendezvous(void);

typedef struct ddp_rendezvous ddp_rendezvous;

/* Come, and wait until all have. *out is set on success; end it with ddp_rendezvous_close.
 * Fails with DDP_ERR_IO (a file cannot be written), DDP_ERR_USAGE (another process has this rank,
 * or another rank counts other ranks), DDP_ERR_COMM (a rank has not come: the text names it),
 * DDP_ERR_NOMEM. */
ddp_status ddp_rendezvous_open(ddp_rendezvous **out, const ddp_rendezvous_config *config,
                               ddp_error *err) DDP_MUST_CHECK;

/* all[r * bytes .. (r + 1) * bytes) becomes rank r's mine[0..bytes). Blocks. Fails as open. */
ddp_status ddp_rendezvous_gather(ddp_rendezvous *r, const void *mine, void *all, size_t bytes,
                                 ddp_error *err) DDP_MUST_CHECK;

/* Remove this rank's file: all others have read it, or none shall. NULL is allowed. */
void ddp_rendezvous_close(ddp_rendezvous *r);

/* Leave this rank's file: others may still read it, and fail for the same reason. NULL is allowed.
 */
void ddp_rendezvous_give_up(ddp_rendezvous *r);

#endif
