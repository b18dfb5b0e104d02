/* cli/shard.h: which lines of the training list a rank reads. */
#ifndef DDP_CLI_SHARD_H
#define DDP_CLI_SHARD_H

#include "base/status.h"
#include "comm/group.h"

/* Keep this rank's lines of the *n in paths: r, r + N, r + 2N, ... of N ranks. *n
 * becomes their number. The other lines follow them, for Darknet frees every line
 * in the end. Blocks until every rank is here.
 * Fails with DDP_ERR_USAGE (fewer lines than ranks), DDP_ERR_MISMATCH (another list
 * on another rank: shards would overlap), DDP_ERR_IO (a picture of the shard cannot
 * be read; a very long list is not searched to its end), DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_shard(ddp_group *group, char **paths, int *n, ddp_error *err) DDP_MUST_CHECK;

#endif
