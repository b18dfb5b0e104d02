/* comm/chunk_pipeline_state.h: what the files behind comm/chunk_pipeline.h share: chunk_pipeline.c
 * (chunks in flight, and waits), chunk_pipeline_open.c (their memory), chunk_overdue.c (which rank
 * is late), wire_messages.c (a chunk's messages), shard_ranges.c and collective.c. Not for others.
 *
 * The transport's requests are numbered so: those of collectives first, then those of chunks, slot
 * by slot. */
#ifndef DDP_COMM_CHUNK_PIPELINE_STATE_H
#define DDP_COMM_CHUNK_PIPELINE_STATE_H

#include "comm/chunk.h"

/* A message of the collective under way. */
struct ddp_collective_request {
    int peer;
    int is_recv; /* 1: it comes from peer; 0: it goes there */
    int pending; /* 1: it was posted and has not ended */
};

/* Return how many of the transport's requests are the collectives'. */
static inline int ddp_collective_requests(const ddp_group *g)
{
    return 2 * (g->size - 1);
}

/* Return the chunk in the i-th slot, the oldest first; NULL: the slot is free. */
static inline struct ddp_chunk *ddp_chunk_in_flight(ddp_group *g, int i)
{
    const struct ddp_chunk_pipeline *p = g->pipeline;
    uint32_t sequence = p->next_sequence + (uint32_t)i;
    struct ddp_chunk *c = g->algorithm->chunk(g, (int)(sequence % (uint32_t)p->sizes.window));

    return c->sum ? c : NULL;
}

/* ---- chunk_pipeline.c ---- */

/* How many chunks have tags of their own, two each: far more than are in flight. Behind these come
 * the tags of as many collectives. */
enum { DDP_TAGS = 8192 };

/* Move data until *left is 0; blocks. When no message has ended for the group's timeout, call
 * overdue, which fails and says which rank is late. Fails with DDP_ERR_COMM. */
ddp_status ddp_chunk_pipeline_wait_until(ddp_group *g, const int *left,
                                         ddp_status (*overdue)(ddp_group *g, ddp_error *err),
                                         ddp_error *err);

/* ---- chunk_overdue.c ---- */

/* Return 1 if no message to or from this rank has ended for the group's timeout. The time counts
 * from since_ns (by ddp_clock_ns) at the earliest. Time for which this process was stopped is left
 * out. */
int ddp_chunk_pipeline_is_late(const ddp_group *g, int64_t since_ns);

/* Make the error that chunks in flight wait too long; always returns DDP_ERR_COMM. The text names
 * the rank that all wait for in the end, if it is known, or else one that the oldest chunk waits
 * for. */
ddp_status ddp_chunk_overdue(ddp_group *g, ddp_error *err);

/* Make the error that `peer` has not sent (taking: 0) or not taken (taking: 1) a message for the
 * group's timeout; always returns DDP_ERR_COMM. The text ends with `where`: ", sum 1 of 4", or "".
 */
ddp_status ddp_chunk_pipeline_overdue(const ddp_group *g, int peer, int taking, const char *where,
                                      ddp_error *err);

/* ---- wire_messages.c ---- */

/* Make room for packed messages, in requests 0 to requests - 1, while none is in flight. Room made
 * earlier is freed first. ddp_parts_release frees the room. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_parts_reserve(struct ddp_chunk_pipeline *x, int requests, ddp_error *err);
void ddp_parts_release(struct ddp_chunk_pipeline *x);

/* Note that a request of a chunk has ended. If it has received packed floats, unpack them. */
void ddp_part_ended(struct ddp_chunk_pipeline *x, int request);

#endif
