#include "cli/shard.h"

#include "base/clock.h"
#include "core/agree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

/* Looking for a picture takes microseconds here and a millisecond on a far disk. */
static const int64_t search_ns = 10 * (int64_t)1000000000;

static ddp_status compare_lists(ddp_group *group, char **paths, int n, ddp_error *err)
{
    XXH64_state_t *hash = XXH64_createState();
    char text[64];

    if (!hash)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a hash");
    (void)XXH64_reset(hash, 0);
    for (int i = 0; i < n; i++)
        (void)XXH64_update(hash, paths[i], strlen(paths[i]) + 1);
    (void)snprintf(text, sizeof text, "%d images listed, hash %016llx", n,
                   (unsigned long long)XXH64_digest(hash));
    (void)XXH64_freeState(hash);
    return ddp_agree(group, text, err);
}

static int keep(char **paths, int n, int rank, int size)
{
    int kept = 0;

    for (int i = rank; i < n; i += size) {
        char *path = paths[i];

        paths[i] = paths[kept];
        paths[kept++] = path;
    }
    return kept;
}

/* Random draws may come to a missing picture after hours. */
static ddp_status find_pictures(char **paths, int n, ddp_error *err)
{
    int64_t end_ns = ddp_clock_ns() + search_ns;

    for (int i = 0; i < n; i++) {
        if (access(paths[i], R_OK))
            return ddp_fail(err, DDP_ERR_IO, "cannot read %.300s of the training list: %s",
                            paths[i], strerror(errno));
        if (ddp_clock_ns() > end_ns)
            break;
    }
    return DDP_OK;
}

ddp_status ddp_shard(ddp_group *group, char **paths, int *n, ddp_error *err)
{
    int size = ddp_group_size(group);

    if (*n < size)
        return ddp_fail(err, DDP_ERR_USAGE, "the training list has %d line%s, fewer than %d ranks",
                        *n, *n == 1 ? "" : "s", size);
    if (compare_lists(group, paths, *n, err))
        return err->code;
    *n = keep(paths, *n, ddp_group_rank(group), size);
    return find_pictures(paths, *n, err);
}
