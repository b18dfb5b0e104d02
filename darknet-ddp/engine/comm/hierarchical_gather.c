/* An all-gather on two levels, within hosts and between them. A rank sends its part once to each
 * other host: to the rank there whose local number is the sender's, modulo the number of ranks of
 * that host. A rank writes the parts that it receives, and its own part, to where the other ranks
 * of its host want them.
 *
 * A chunk has requests for only a few messages, so hosts take turns. In its k-th turn a rank sends
 * to the k-th host after its own, and receives from the k-th host before it. A rank may have
 * several turns at a time. No rank waits for ever: once all turns before k have ended, everybody
 * posts turn k. */
#include "base/is_finite.h"
#include "comm/hierarchical_state.h"

#include <string.h>

static int host_ranks(const ddp_group *g, int host)
{
    return g->places.first[host + 1] - g->places.first[host];
}

/* The local number of the rank on `host` that gets the parts of ranks numbered `local` on theirs.
 */
static int receiver(const ddp_group *g, int host, int local)
{
    return local % host_ranks(g, host);
}

/* How many of another host's ranks send their parts to this rank, and the i-th of them. */
static int senders(const ddp_group *g, int host)
{
    int behind = host_ranks(g, host) - g->local_rank;

    return behind > 0 ? (behind + g->local_size - 1) / g->local_size : 0;
}

static int sender(const ddp_group *g, int host, int i)
{
    return g->places.first[host] + g->local_rank + i * g->local_size;
}

int ddp_hierarchical_gather_requests(const ddp_group *g)
{
    int most = 0;

    for (int h = 0; h < g->places.count; h++)
        if (h != ddp_hierarchical_of(g)->host && most < senders(g, h))
            most = senders(g, h);
    return g->places.count > 1 ? most + 1 : 0;
}

void ddp_hierarchical_gather_check_own(const ddp_group *g, struct ddp_hierarchical_chunk *c)
{
    c->not_finite = !ddp_all_finite(ddp_chunk_part_of(&c->base, g->rank), c->base.count);
}

int ddp_hierarchical_gather_posted_all(const ddp_group *g, const struct ddp_hierarchical_chunk *c)
{
    return c->hosts_posted == g->places.count - 1;
}

static ddp_status post_part(ddp_group *g, struct ddp_hierarchical_chunk *c, int incoming, int peer,
                            ddp_error *err)
{
    float *part = ddp_chunk_part_of(&c->base, incoming ? peer : g->rank);

    return ddp_hierarchical_post(g, c, 0, incoming, peer, part, c->base.count, err);
}

ddp_status ddp_hierarchical_gather_post(ddp_group *g, struct ddp_hierarchical_chunk *c,
                                        ddp_error *err)
{
    int hosts = g->places.count, own = ddp_hierarchical_of(g)->host;

    c->messages_posted = 0;
    while (!ddp_hierarchical_gather_posted_all(g, c)) {
        int to = (own + c->hosts_posted + 1) % hosts,
            from = (own - c->hosts_posted - 1 + hosts) % hosts;

        if (c->messages_posted + senders(g, from) + 1 > ddp_hierarchical_of(g)->requests)
            return DDP_OK;
        for (int i = 0; i < senders(g, from); i++)
            if (post_part(g, c, 1, sender(g, from, i), err))
                return err->code;
        if (post_part(g, c, 0, g->places.first[to] + receiver(g, to, g->local_rank), err))
            return err->code;
        c->hosts_posted++;
    }
    return DDP_OK;
}

/* Where a rank of this host wants the chunk's elements of rank's part: c->at is where its chunk
 * begins, in a slot with the pieces side by side, or where it lies among the parts. */
static float *place_at(const ddp_group *g, const struct ddp_hierarchical_chunk *c, int local_rank,
                       int rank)
{
    int in_slot = ddp_hierarchical_board(g, local_rank)->places[c->base.slot] == 0;
    size_t apart = in_slot ? c->base.count : c->base.sum->count;

    return c->at[local_rank] + (size_t)rank * apart;
}

static void share_part(const ddp_group *g, struct ddp_hierarchical_chunk *c, int rank)
{
    const float *part = ddp_chunk_part_of(&c->base, rank);

    for (int k = 1; k < g->local_size; k++) {
        int r = (g->local_rank + k) % g->local_size; /* not all write to the same one */

        memcpy(place_at(g, c, r, rank), part, c->base.count * sizeof *part);
    }
}

void ddp_hierarchical_gather_share(const ddp_group *g, struct ddp_hierarchical_chunk *c)
{
    share_part(g, c, g->rank);
    for (int h = 0; h < g->places.count; h++)
        for (int i = 0; h != ddp_hierarchical_of(g)->host && i < senders(g, h); i++) {
            int rank = sender(g, h, i);

            if (!ddp_all_finite(ddp_chunk_part_of(&c->base, rank), c->base.count))
                c->not_finite = 1;
            share_part(g, c, rank);
        }
}

void ddp_hierarchical_gather_copy_shared(const ddp_group *g, struct ddp_hierarchical_chunk *c)
{
    int own = ddp_hierarchical_of(g)->host;

    for (int h = 0; h < g->places.count; h++)
        for (int r = g->places.first[h]; r < g->places.first[h + 1]; r++) {
            float *part = ddp_chunk_part_of(&c->base, r);
            const float *given = place_at(g, c, g->local_rank, r);

            if (part != given && receiver(g, own, r - g->places.first[h]) != g->local_rank)
                memcpy(part, given, c->base.count * sizeof *part);
        }
}
