/* comm/wire.h: messages of floats that travel as 16 bits (device/half.h).
 *
 * What is sent is packed into memory of the request's own, so the floats are free at once; what
 * comes is unpacked when its request has ended. Included by exchange.c alone. */
#ifndef DDP_COMM_WIRE_H
#define DDP_COMM_WIRE_H

#include "base/status.h"
#include "device/wire.h"

/* A message under way, by request. All zero at first. */
struct ddp_packed {
    uint16_t *halves; /* kept from message to message */
    size_t room;
    float *to; /* where what comes belongs; NULL: nothing comes packed */
    size_t count;
    ddp_wire wire;
};

/* Pack floats for a message, of which p->halves is then the content. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_packed_send(struct ddp_packed *p, const float *from, size_t count, ddp_wire wire,
                           ddp_error *err) DDP_MUST_CHECK;

/* Make room at p->halves for what will be to[0..count). Fails with DDP_ERR_NOMEM. */
ddp_status ddp_packed_recv(struct ddp_packed *p, float *to, size_t count, ddp_wire wire,
                           ddp_error *err) DDP_MUST_CHECK;

/* The request has ended: unpack what has come, if anything does. */
void ddp_packed_ended(struct ddp_packed *p);

void ddp_packed_release(struct ddp_packed *p);

#endif
