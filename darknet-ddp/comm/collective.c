/* Broadcast, allgather and barrier. They carry a model once, some statistics
 * and small agreements, so they are simple before they are fast; what they need
 * is that a wait has an end and a name. Long ones travel in segments, which
 * keeps a message below MPI's limit of 2 GiB and fills a tree's lower links. */
#include "comm/exchange.h"

enum { SEGMENT_BYTES = 1 << 20 };

static size_t segment(size_t bytes, size_t at)
{
    return bytes - at < SEGMENT_BYTES ? bytes - at : SEGMENT_BYTES;
}

/* A binomial tree over the distance from root: a rank's parent clears its lowest
 * bit, its children set one bit below that. */
static ddp_status send_to_children(ddp_group *g, void *data, size_t bytes, int root, ddp_error *err)
{
    int distance = (g->rank - root + g->size) % g->size;
    int bit = 1;

    while (bit < g->size && !(distance & bit))
        bit *= 2;
    for (bit /= 2; bit > 0; bit /= 2) {
        struct ddp_message m = {(distance + bit + root) % g->size, ddp_exchange_collective_tag(g),
                                bytes, data};

        if (distance + bit < g->size && ddp_exchange_send(g, &m, err))
            return err->code;
    }
    return DDP_OK;
}

static ddp_status receive_from_parent(ddp_group *g, void *data, size_t bytes, int root,
                                      ddp_error *err)
{
    int distance = (g->rank - root + g->size) % g->size;
    int parent = (distance & (distance - 1)) + root;
    struct ddp_message m = {parent % g->size, ddp_exchange_collective_tag(g), bytes, data};

    return distance == 0 ? DDP_OK : ddp_exchange_recv(g, &m, err);
}

ddp_status ddp_exchange_broadcast(ddp_group *g, void *buf, size_t bytes, int root, ddp_error *err)
{
    char *data = buf;

    /* While one segment comes, the one before it goes on. */
    for (size_t at = 0; at < bytes; at += SEGMENT_BYTES) {
        size_t n = segment(bytes, at);

        if (receive_from_parent(g, data + at, n, root, err) || ddp_exchange_finish(g, err)
            || send_to_children(g, data + at, n, root, err))
            return err->code;
    }
    if (ddp_exchange_finish(g, err))
        return err->code;
    ddp_exchange_next_collective(g);
    return DDP_OK;
}

static ddp_status swap_segment(ddp_group *g, char *all, size_t bytes, size_t at, ddp_error *err)
{
    size_t n = segment(bytes, at);
    int tag = ddp_exchange_collective_tag(g);

    for (int i = 0; i < g->size - 1; i++) {
        int peer = ddp_exchange_peer(g, i);
        struct ddp_message in = {peer, tag, n, all + (size_t)peer * bytes + at};
        struct ddp_message out = {peer, tag, n, all + (size_t)g->rank * bytes + at};

        if (ddp_exchange_recv(g, &in, err) || ddp_exchange_send(g, &out, err))
            return err->code;
    }
    return ddp_exchange_finish(g, err);
}

/* Everybody tells everybody: a missing rank is then missed by all. The caller has
 * put mine into its place; all may be NULL when bytes is 0. */
ddp_status ddp_exchange_allgather(ddp_group *g, const void *mine, void *all, size_t bytes,
                                  ddp_error *err)
{
    char nothing = 0;
    char *data = bytes ? all : &nothing;
    size_t at = 0;

    (void)mine;
    do {
        if (swap_segment(g, data, bytes, at, err))
            return err->code;
        at += SEGMENT_BYTES;
    } while (at < bytes);
    ddp_exchange_next_collective(g);
    return DDP_OK;
}
