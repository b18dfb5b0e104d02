#include "comm/chunk_pipeline_state.h"
#include "device/wire.h"

#include <stdlib.h>

/* A message under way that travels packed (device/wire.h), by request. All zero at first. */
struct ddp_packed {
    void *bytes; /* kept from message to message */
    size_t room; /* how many there are */
    float *to;   /* where what comes belongs; NULL: nothing comes packed */
    size_t count;
    ddp_wire wire;
};

void ddp_parts_release(struct ddp_chunk_pipeline *x)
{
    for (int i = 0; i < x->requests; i++)
        free(x->packed[i].bytes);
    free(x->packed);
    x->packed = NULL;
    x->requests = 0;
}

ddp_status ddp_parts_reserve(struct ddp_chunk_pipeline *x, int requests, ddp_error *err)
{
    ddp_parts_release(x);
    /* One more than needed, since a group of one rank needs none. */
    x->packed = calloc((size_t)requests + 1, sizeof *x->packed);
    if (!x->packed)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d requests", requests);
    x->requests = requests;
    return DDP_OK;
}

static ddp_status make_room(struct ddp_packed *p, size_t bytes, ddp_error *err)
{
    if (bytes <= p->room)
        return DDP_OK;
    free(p->bytes);
    p->room = 0;
    p->bytes = malloc(bytes);
    if (!p->bytes)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a message of %zu bytes", bytes);
    p->room = bytes;
    return DDP_OK;
}

static int is_packed(const struct ddp_chunk *c)
{
    return c->sum->wire != DDP_WIRE_FP32;
}

/* A part as it travels: its floats themselves, or p's memory. */
static ddp_status message(struct ddp_message *m, struct ddp_packed *p, const struct ddp_chunk *c,
                          const struct ddp_part *part, ddp_error *err)
{
    *m = (struct ddp_message){.peer = part->peer,
                              .channel = c->sum->channel,
                              .tag = (int)(c->sequence % DDP_TAGS) * 2 + part->phase,
                              .bytes = ddp_wire_bytes(c->sum->wire, part->count),
                              .buf = part->data};
    p->to = NULL;
    if (!is_packed(c))
        return DDP_OK;
    if (make_room(p, m->bytes, err))
        return err->code;
    m->buf = p->bytes;
    return DDP_OK;
}

static void count(ddp_group *g, const struct ddp_message *m)
{
    int place = m->peer - (g->rank - g->local_rank); /* among the ranks of this host */

    g->traffic.messages++;
    g->traffic.bytes += m->bytes;
    g->traffic.channel_bytes[m->channel] += m->bytes;
    if (place < 0 || place >= g->local_size)
        g->traffic.inter_host_bytes += m->bytes;
}

/* The floats are free at once where they are packed. */
ddp_status ddp_part_send(ddp_group *g, const struct ddp_chunk *c, int i,
                         const struct ddp_part *part, ddp_error *err)
{
    int request = c->first_request + i;
    struct ddp_packed *p = &g->pipeline->packed[request];
    struct ddp_message m;

    if (message(&m, p, c, part, err))
        return err->code;
    if (is_packed(c))
        ddp_wire_pack(p->bytes, part->data, part->count, c->sum->wire);
    count(g, &m);
    return g->transport->send(g, request, &m, err);
}

ddp_status ddp_part_recv(ddp_group *g, const struct ddp_chunk *c, int i,
                         const struct ddp_part *part, ddp_error *err)
{
    int request = c->first_request + i;
    struct ddp_packed *p = &g->pipeline->packed[request];
    struct ddp_message m;

    if (message(&m, p, c, part, err))
        return err->code;
    if (is_packed(c)) {
        p->to = part->data;
        p->count = part->count;
        p->wire = c->sum->wire;
    }
    return g->transport->recv(g, request, &m, err);
}

void ddp_part_ended(struct ddp_chunk_pipeline *x, int request)
{
    struct ddp_packed *p = &x->packed[request];

    if (p->to)
        ddp_wire_unpack(p->to, p->bytes, p->count, p->wire);
    p->to = NULL;
}
