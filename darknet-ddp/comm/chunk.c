#include "comm/chunk.h"

#include "base/finite.h"
#include "comm/exchange.h"
#include "device/sum.h"

#include <math.h>
#include <string.h>

/* Up to this many floats in all are sent whole: one round trip is then dearer
 * than the bytes. */
enum { SMALL_COUNT = 16384 };

enum { PARTS = 0, SUMS = 1 };

struct piece {
    float *data;
    size_t count;
};

static struct piece piece_of(const struct ddp_chunk *c, int rank, int size)
{
    size_t r = (size_t)rank, n = (size_t)size;
    size_t begin = c->count * r / n, end = c->count * (r + 1) / n;

    if (!c->direct)
        return (struct piece){c->data, c->count};
    return (struct piece){c->data + begin, end - begin};
}

static struct ddp_message message(const struct ddp_chunk *c, int phase, int peer, float *data,
                                  size_t count)
{
    return (struct ddp_message){.peer = peer,
                                .tag = ddp_exchange_sum_tag(c->sequence, phase),
                                .bytes = count * sizeof *data,
                                .buf = data};
}

size_t ddp_chunk_scratch(size_t count, int size)
{
    size_t peers = (size_t)size - 1;
    size_t direct = peers * (count / (size_t)size + 1);
    size_t whole = size == 2 ? count : SMALL_COUNT;

    return direct > whole ? direct : whole;
}

ddp_status ddp_chunk_launch(ddp_group *g, struct ddp_chunk *c, ddp_error *err)
{
    int peers = g->size - 1;
    struct piece mine;

    c->direct = g->size > 2 && c->count * (size_t)peers > SMALL_COUNT;
    c->parts_left = peers;
    c->requests_left = (c->direct ? 4 : 2) * peers;
    memset(c->ended, 0, (size_t)peers * 2);
    mine = piece_of(c, g->rank, g->size);
    for (int i = 0; i < peers; i++) {
        int peer = ddp_exchange_peer(g, i);
        struct piece theirs = piece_of(c, peer, g->size);
        float *part = c->scratch + (size_t)i * mine.count;
        struct ddp_message in = message(c, PARTS, peer, part, mine.count);
        struct ddp_message out = message(c, PARTS, peer, theirs.data, theirs.count);

        c->parts[peer] = part;
        if (g->transport->recv(g, c->first_request + i, &in, err)
            || g->transport->send(g, c->first_request + peers + i, &out, err))
            return err->code;
    }
    return DDP_OK;
}

/* Where each rank sums a piece, the others learn of one that is not finite by its first element,
 * which then is no number. */
static void sum_piece(const ddp_group *g, struct ddp_chunk *c)
{
    struct piece mine = piece_of(c, g->rank, g->size);

    c->parts[g->rank] = mine.data;
    if (ddp_sum_tree(c->parts, g->size, g->rank, mine.count))
        return;
    c->sum->not_finite = 1;
    if (c->direct)
        mine.data[0] = NAN;
}

/* Request i has ended for the second time. */
static void sum_arrived(const ddp_group *g, struct ddp_chunk *c, int i)
{
    struct piece theirs = piece_of(c, ddp_exchange_peer(g, i - (g->size - 1)), g->size);

    if (!ddp_all_finite(theirs.data, theirs.count > 0))
        c->sum->not_finite = 1;
}

static ddp_status send_sums(ddp_group *g, struct ddp_chunk *c, ddp_error *err)
{
    struct piece mine = piece_of(c, g->rank, g->size);

    for (int i = 0; i < g->size - 1; i++) {
        struct ddp_message m = message(c, SUMS, ddp_exchange_peer(g, i), mine.data, mine.count);

        if (g->transport->send(g, c->first_request + i, &m, err))
            return err->code;
    }
    return DDP_OK;
}

static ddp_status receive_sum(ddp_group *g, struct ddp_chunk *c, int i, ddp_error *err)
{
    int peer = ddp_exchange_peer(g, i - (g->size - 1));
    struct piece theirs = piece_of(c, peer, g->size);
    struct ddp_message m = message(c, SUMS, peer, theirs.data, theirs.count);

    return g->transport->recv(g, c->first_request + i, &m, err);
}

ddp_status ddp_chunk_advance(ddp_group *g, struct ddp_chunk *c, int i, ddp_error *err)
{
    int incoming = i < g->size - 1;
    int first = c->ended[i]++ == 0;

    c->requests_left--;
    if (first && incoming)
        c->parts_left--;
    if (!c->direct) {
        /* Not before the sends of the same memory have ended. */
        if (c->requests_left == 0)
            sum_piece(g, c);
        return DDP_OK;
    }
    if (first && !incoming)
        return receive_sum(g, c, i, err);
    if (!first && !incoming)
        sum_arrived(g, c, i);
    if (first && c->parts_left == 0) {
        sum_piece(g, c);
        return send_sums(g, c, err);
    }
    return DDP_OK;
}

int ddp_chunk_behind(const ddp_group *g, const struct ddp_chunk *c)
{
    for (int i = 0; i < g->size - 1; i++)
        if (c->ended[i] == 0)
            return ddp_exchange_peer(g, i);
    return -1;
}

int ddp_chunk_waits_for(const ddp_group *g, const struct ddp_chunk *c, int *taking)
{
    int peers = g->size - 1;
    int last = c->direct ? 2 : 1;

    *taking = 0;
    for (int i = peers; c->direct && i < 2 * peers; i++)
        if (c->ended[i] == 1)
            return ddp_exchange_peer(g, i - peers);
    *taking = 1;
    for (int i = 0; i < 2 * peers; i++)
        if (c->ended[i] < last)
            return ddp_exchange_peer(g, i % peers);
    return -1;
}
