#include "inputs/list.h"

#include "base/clock.h"
#include "base/plural.h"
#include "check/lists.h"
#include "comm/collectives.h"
#include "core/agree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

/* Looking for a picture takes microseconds here and a millisecond on a far disk. */
static const int64_t search_ns = 10 * (int64_t)1000000000;

static ddp_status hash_lines(ddp_list *list, char *const *paths, ddp_error *err)
{
    XXH64_state_t *hash = XXH64_createState();

    if (!hash)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a hash");
    (void)XXH64_reset(hash, 0);
    for (int i = 0; i < list->count; i++)
        (void)XXH64_update(hash, paths[i], strlen(paths[i]) + 1);
    list->hash = XXH64_digest(hash);
    (void)XXH64_freeState(hash);
    return DDP_OK;
}

static ddp_status compare_lists(const ddp_list *list, ddp_group *group, ddp_error *err)
{
    char text[64];

    (void)snprintf(text, sizeof text, "%d image%s listed, hash %016llx", list->count,
                   ddp_plural((size_t)list->count), (unsigned long long)list->hash);
    return ddp_agree(group, text, err);
}

static ddp_status fail_to_read(const char *path, const char *list, size_t i, ddp_error *err)
{
    int number = errno;

    if (!list)
        return ddp_fail(err, DDP_ERR_IO, "cannot read %.300s of the training list: %s%s", path,
                        strerror(number), ddp_path_oddity(path));
    return ddp_fail(err, DDP_ERR_IO, "%s:%zu: cannot read %.300s: %s%s", list,
                    ddp_list_line_number(list, i), path, strerror(number), ddp_path_oddity(path));
}

/* Every path is looked for before training, which may come to a missing picture only after hours.
 */
ddp_status ddp_list_check_pictures(ddp_group *group, char *const *paths, size_t n, const char *list,
                                   ddp_error *err)
{
    int64_t end_ns = ddp_clock_ns() + search_ns;
    size_t ranks = (size_t)ddp_group_size(group);

    for (size_t i = (size_t)ddp_group_rank(group); i < n && ddp_clock_ns() < end_ns; i += ranks)
        if (access(paths[i], R_OK))
            return fail_to_read(paths[i], list, i, err);
    /* No rank goes on before all have looked, so that a missing picture is named by the rank that
     * has looked for it. */
    return ddp_barrier(group, err);
}

ddp_status ddp_list_agree(ddp_list *out, ddp_group *group, char *const *paths, int n,
                          ddp_error *err)
{
    *out = (ddp_list){.count = n};
    if (hash_lines(out, paths, err))
        return err->code;
    return compare_lists(out, group, err);
}
