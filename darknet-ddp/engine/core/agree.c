#include "core/agree.h"

#include "comm/collectives.h"
#include "core/rank_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Characters of a line that an error shows, so that both sides' fit. */
enum { SHOWN = 104 };

/* The first line that differs, as two ranks have it. */
struct difference {
    char odd[SHOWN + 1], first[SHOWN + 1];
};

/* ---- sides ---- */

static void name_side(const ddp_group *group, const uint64_t *all, uint64_t hash, char *in,
                      int *count, char *out, size_t size)
{
    for (int r = 0; r < ddp_group_size(group); r++)
        in[r] = (char)(all[r] == hash);
    *count = ddp_rank_names(group, in, out, size);
}

static ddp_status name_sides(ddp_hash_difference *out, const ddp_group *group, const uint64_t *all,
                             ddp_error *err)
{
    int size = ddp_group_size(group), count, odd = 1;
    char *in;

    *out = (ddp_hash_difference){0};
    while (odd < size && all[odd] == all[0])
        odd++;
    if (odd == size)
        return DDP_OK;
    in = calloc((size_t)size, 1);
    if (!in)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d ranks", size);
    out->differ = 1;
    out->rank = odd;
    name_side(group, all, all[odd], in, &out->rank_count, out->ranks, sizeof out->ranks);
    name_side(group, all, all[0], in, &count, out->like_rank_0, sizeof out->like_rank_0);
    free(in);
    return DDP_OK;
}

ddp_status ddp_compare_hashes(ddp_hash_difference *out, ddp_group *group, uint64_t hash,
                              ddp_error *err)
{
    uint64_t *all = ddp_allgather_new(group, &hash, sizeof hash, err);
    ddp_status st = all ? name_sides(out, group, all, err) : err->code;

    free(all);
    return st;
}

/* ---- texts ---- */

/* Length of the line that starts at text. */
static size_t line_length(const char *text)
{
    return strcspn(text, "\n");
}

/* The texts differ. An end that comes too early reads as an empty line. */
static void find_difference(const char *mine, const char *theirs, struct difference *out)
{
    size_t a = line_length(mine), b = line_length(theirs);

    while (a == b && memcmp(mine, theirs, a) == 0 && (mine[a] || theirs[b])) {
        mine += a + (mine[a] == '\n');
        theirs += b + (theirs[b] == '\n');
        a = line_length(mine);
        b = line_length(theirs);
    }
    (void)snprintf(out->odd, sizeof out->odd, "%.*s", a < SHOWN ? (int)a : SHOWN, mine);
    (void)snprintf(out->first, sizeof out->first, "%.*s", b < SHOWN ? (int)b : SHOWN, theirs);
}

/* Rank odd finds it, and every rank fails with it. */
static ddp_status tell_difference(ddp_group *group, const char *mine, const char *theirs,
                                  const ddp_hash_difference *sides, ddp_error *err)
{
    struct difference found = {"", ""};
    int one = sides->rank_count == 1;

    if (ddp_group_rank(group) == sides->rank)
        find_difference(mine, theirs, &found);
    if (ddp_broadcast(group, &found, sizeof found, sides->rank, err))
        return err->code;
    return ddp_fail(err, DDP_ERR_MISMATCH, "%s differ%s from %s: %s '%s', not '%s'", sides->ranks,
                    one ? "s" : "", sides->like_rank_0, one ? "it has" : "they have", found.odd,
                    found.first);
}

/* Rank 0's text on every rank. *out is the caller's to free. */
static ddp_status share_text(ddp_group *group, const char *text, char **out, ddp_error *err)
{
    uint64_t length = strlen(text) + 1;

    *out = NULL;
    if (ddp_broadcast(group, &length, sizeof length, 0, err))
        return err->code;
    *out = malloc(length);
    if (!*out)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu bytes", (size_t)length);
    if (ddp_group_rank(group) == 0)
        memcpy(*out, text, length);
    return ddp_broadcast(group, *out, length, 0, err);
}

ddp_status ddp_agree(ddp_group *group, const char *text, ddp_error *err)
{
    ddp_hash_difference sides;
    char *theirs;
    ddp_status st = ddp_compare_hashes(&sides, group, XXH64(text, strlen(text), 0), err);

    if (st || !sides.differ)
        return st;
    st = share_text(group, text, &theirs, err);
    if (!st)
        st = tell_difference(group, text, theirs, &sides, err);
    free(theirs);
    return st;
}
