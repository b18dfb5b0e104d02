/* comm/chunk_pipeline_state.h: functions that the files behind comm/chunk_pipeline.h share. For
 * these files alone: chunk_pipeline.c (chunks in flight, and waits), chunk_pipeline_open.c (their
 * memory), chunk_overdue.c (late ranks), wire_messages.c (a chunk's messages), shard_ranges.c (a
 * rank's share), collective.c (collectives).
 *
 * A chunk in flight has a slot. The transport's requests are numbered: first those of collectives,
 * then those of slot 0, slot 1 and so on. */
#ifndef DDP_COMM_CHUNK_PIPELINE_STATE_H
#define DDP_COMM_CHUNK_PIPELINE_STATE_H

#include "comm/chunk.h"

/* A message of the collective under way (comm/collective.h). */
struct ddp_collective_request {
    int peer;
    int is_recv; /* 1: the message comes from peer; 0: it goes to peer */
    int pending; /* 1: the message was posted and has not ended */
};

/* Return how many of the transport's requests belong to collectives. */
static inline int ddp_collective_requests(const ddp_group *g)
{
    return 2 * (g->size - 1);
}

/* Return the chunk in the i-th slot, i from 0 to window - 1; NULL: it has none. Slots of older
 * chunks come first. */
static inline struct ddp_chunk *ddp_chunk_in_flight(ddp_group *g, int i)
{
    const struct ddp_chunk_pipeline *p = g->pipeline;
    uint32_t sequence = p->next_sequence + (uint32_t)i;
    struct ddp_chunk *c = g->algorithm->chunk(g, (int)(sequence % (uint32_t)p->sizes.window));

    return c->sum ? c : NULL;
}

/* ---- chunk_pipeline.c ---- */

/* How many chunks in a row have tags of their own: far more than are in flight. A chunk has two
 * tags, below 2 * DDP_TAGS. The next DDP_TAGS tags are those of collectives, one each. */
enum { DDP_TAGS = 8192 };

/* Poll until *left, a count of chunks or messages that have not ended, is 0. If nothing moves for
 * the group's timeout, return overdue(g, err), which fails with the late rank's name. Fails with
 * DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_chunk_pipeline_wait_until(ddp_group *g, const int *left,
                                         ddp_status (*overdue)(ddp_group *g, ddp_error *err),
                                         ddp_error *err);

/* ---- chunk_overdue.c ---- */

/* Return 1 if nothing has moved (last_message_ns) for the group's timeout, else 0, also if
 * the group has no timeout. The time counts from since_ns (by ddp_clock_ns) at the earliest. Call
 * at every idle poll: a gap of over 2 s between calls is taken for a stop, and does not count. */
int ddp_chunk_pipeline_is_late(const ddp_group *g, int64_t since_ns);

/* Fail with DDP_ERR_COMM because chunks in flight have waited for the group's timeout; there must
 * be a chunk in flight. The text names a rank that, as it seems, waits for no other. If there is
 * none, it names the rank that the oldest chunk waits for. */
ddp_status ddp_fail_late_chunks(ddp_group *g, ddp_error *err);

/* Fail with DDP_ERR_COMM because of `rank`. The text says that for the group's timeout it has sent
 * no message or, with has_to_take 1, taken none. It ends with `where`: ", sum 1 of 4", or "". */
ddp_status ddp_fail_late_rank(const ddp_group *g, int rank, int has_to_take, const char *where,
                              ddp_error *err);

/* ---- wire_messages.c ---- */

/* Allocate x->packed for requests 0 to requests - 1, in place of what was allocated before. No
 * request may be in flight. Free it with ddp_parts_release. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_parts_reserve(struct ddp_chunk_pipeline *x, int requests, ddp_error *err);
void ddp_parts_release(struct ddp_chunk_pipeline *x);

/* Unpack the floats that a chunk's request has received, if they travelled in fewer than 32 bits.
 * Call when the request has ended. */
void ddp_part_ended(struct ddp_chunk_pipeline *x, int request);

#endif
