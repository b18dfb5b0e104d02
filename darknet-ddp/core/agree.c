#include "core/agree.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* As much of a line as an error shows, so that both ranks' fit. */
enum { SHOWN = 160 };

/* Length of the line that starts at text. */
static size_t line_length(const char *text)
{
    return strcspn(text, "\n");
}

static int shown(size_t length)
{
    return length < SHOWN ? (int)length : SHOWN;
}

/* The texts differ. An end that comes too early reads as an empty line. */
static ddp_status first_difference(const char *mine, const char *theirs, int rank, const char *host,
                                   ddp_error *err)
{
    size_t a = line_length(mine), b = line_length(theirs);

    while (a == b && memcmp(mine, theirs, a) == 0 && (mine[a] || theirs[b])) {
        mine += a + (mine[a] == '\n');
        theirs += b + (theirs[b] == '\n');
        a = line_length(mine);
        b = line_length(theirs);
    }
    return ddp_fail(err, DDP_ERR_MISMATCH,
                    "rank %d on %s differs from rank 0: it has '%.*s', rank 0 has '%.*s'", rank,
                    host, shown(a), mine, shown(b), theirs);
}

ddp_status ddp_find_odd_rank(ddp_group *group, uint64_t hash, int *odd, ddp_error *err)
{
    int size = ddp_group_size(group);
    uint64_t *all = calloc((size_t)size, sizeof *all);
    ddp_status st;

    *odd = 0;
    if (!all)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d hashes", size);
    st = ddp_allgather(group, &hash, all, sizeof hash, err);
    for (int r = size - 1; r > 0 && !st; r--)
        if (all[r] != all[0])
            *odd = r;
    free(all);
    return st;
}

/* Rank odd finds it, and every rank fails with it. */
static ddp_status tell_difference(ddp_group *group, const char *mine, const char *theirs, int odd,
                                  ddp_error *err)
{
    ddp_error found = {.code = DDP_OK};

    if (ddp_group_rank(group) == odd)
        (void)first_difference(mine, theirs, odd, ddp_group_host(group, odd), &found);
    if (ddp_broadcast(group, found.text, sizeof found.text, odd, err))
        return err->code;
    return ddp_fail(err, DDP_ERR_MISMATCH, "%s", found.text);
}

ddp_status ddp_agree(ddp_group *group, const char *text, ddp_error *err)
{
    int rank = ddp_group_rank(group);
    uint64_t length = strlen(text) + 1;
    char *theirs;
    int odd;
    ddp_status st = ddp_find_odd_rank(group, XXH64(text, strlen(text), 0), &odd, err);

    if (st || odd == 0)
        return st;
    if (ddp_broadcast(group, &length, sizeof length, 0, err))
        return err->code;
    theirs = malloc(length);
    if (!theirs)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu bytes", (size_t)length);
    if (rank == 0)
        memcpy(theirs, text, length);
    st = ddp_broadcast(group, theirs, length, 0, err);
    if (!st)
        st = tell_difference(group, text, theirs, odd, err);
    free(theirs);
    return st;
}
