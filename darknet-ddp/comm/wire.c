#include "comm/wire.h"

#include <stdlib.h>

static ddp_status make_room(struct ddp_packed *p, size_t count, ddp_error *err)
{
    if (count <= p->room)
        return DDP_OK;
    free(p->halves);
    p->room = 0;
    p->halves = malloc(count * sizeof *p->halves);
    if (!p->halves)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a message of %zu numbers of 16 bits",
                        count);
    p->room = count;
    return DDP_OK;
}

ddp_status ddp_packed_send(struct ddp_packed *p, const float *from, size_t count, ddp_wire wire,
                           ddp_error *err)
{
    p->to = NULL;
    if (make_room(p, count, err))
        return err->code;
    ddp_wire_pack(p->halves, from, count, wire);
    return DDP_OK;
}

ddp_status ddp_packed_recv(struct ddp_packed *p, float *to, size_t count, ddp_wire wire,
                           ddp_error *err)
{
    if (make_room(p, count, err))
        return err->code;
    p->to = to;
    p->count = count;
    p->wire = wire;
    return DDP_OK;
}

void ddp_packed_ended(struct ddp_packed *p)
{
    if (p->to)
        ddp_wire_unpack(p->to, p->halves, p->count, p->wire);
    p->to = NULL;
}

void ddp_packed_release(struct ddp_packed *p)
{
    free(p->halves);
    *p = (struct ddp_packed){0};
}
