#include "core/rank_names.h"

#include <stdio.h>
#include <string.h>

/* A person reads no more of them. */
enum { SHOWN_RANKS = 6, SHOWN_HOSTS = 2 };

struct words {
    char *out;
    size_t size, used;
};

static void add(struct words *w, const char *before, const char *text)
{
    if (w->used < w->size)
        w->used += (size_t)snprintf(w->out + w->used, w->size - w->used, "%s%s", before, text);
}

static void add_more(struct words *w, int count)
{
    char text[32];

    (void)snprintf(text, sizeof text, " and %d more", count);
    add(w, "", text);
}

static void add_numbers(struct words *w, const char *in, int size)
{
    char number[16];
    int count = 0;

    for (int r = 0; r < size; r++) {
        (void)snprintf(number, sizeof number, "%d", r);
        if (in[r] && count++ < SHOWN_RANKS)
            add(w, count > 1 ? ", " : "", number);
    }
    if (count > SHOWN_RANKS)
        add_more(w, count - SHOWN_RANKS);
}

/* Is r's the first rank of the set on its host? */
static int is_first(const ddp_group *group, const char *in, int r)
{
    for (int k = 0; k < r; k++)
        if (in[k] && strcmp(ddp_group_host(group, k), ddp_group_host(group, r)) == 0)
            return 0;
    return 1;
}

static void add_hosts(struct words *w, const ddp_group *group, const char *in)
{
    int size = ddp_group_size(group), count = 0;

    for (int r = 0; r < size; r++)
        if (in[r] && is_first(group, in, r) && count++ < SHOWN_HOSTS)
            add(w, count > 1 ? ", " : " on ", ddp_group_host(group, r));
    if (count > SHOWN_HOSTS)
        add_more(w, count - SHOWN_HOSTS);
}

int ddp_rank_names(const ddp_group *group, const char *in, char *out, size_t size)
{
    struct words w = {out, size, 0};
    int all = ddp_group_size(group), count = 0;

    for (int r = 0; r < all; r++)
        count += in[r] != 0;
    add(&w, count == 1 ? "rank " : "ranks ", "");
    add_numbers(&w, in, all);
    add_hosts(&w, group, in);
    return count;
}
