/* comm/chunk_pipeline.h: chunks of sums, and collectives, on top of a transport's messages.
 *
 * Started sums form a queue of chunks, in the order of starting, and within a sum in the order of
 * place. Every rank numbers them alike, and the number is the tag of a chunk's messages. A few
 * chunks are in flight at a time: that bounds the memory, and messages of the next chunks travel
 * while one is summed.
 *
 * A backend sets g->transport and calls ddp_chunk_pipeline_open. chunk.h says how a chunk is
 * summed, wire_messages.c has its messages, collective.c has collectives.
 *
 * With -ddp_channels sums take turns at several channels (ddp_host_sum.channel). Messages match
 * within the channel of their sum. MPI has a communicator for each channel, NCCL also a stream
 * (nccl/nccl.c). All channels share one window of chunks. */
#ifndef DDP_COMM_CHUNK_PIPELINE_H
#define DDP_COMM_CHUNK_PIPELINE_H

#include "comm/backend.h"
#include "comm/work.h"

/* Bytes of the longest message of a sum. A transport does well to send it without asking the
 * receiver first, which takes a poll on both sides. */
enum { DDP_CHUNK_MESSAGE_BYTES = 512 * 1024 };

/* Open g->pipeline, and reserve the transport's requests. Sums go directly until
 * ddp_chunk_pipeline_use. On failure call ddp_chunk_pipeline_close, too. Fails with DDP_ERR_NOMEM,
 * or as the transport's reserve. */
ddp_status ddp_chunk_pipeline_open(ddp_group *g, ddp_error *err);

struct ddp_allreduce_algorithm; /* defined in comm/chunk.h */

/* Sum chunks by this algorithm (chunk.h) from here on. Every rank calls it while no sum is in
 * flight. Fails as algorithm->open; the next sum then goes directly. */
ddp_status ddp_chunk_pipeline_use(ddp_group *g, const struct ddp_allreduce_algorithm *algorithm,
                                  ddp_error *err);

void ddp_chunk_pipeline_close(ddp_group *g); /* frees g->pipeline; it may be NULL */

/* Move chunks in flight along, if there are any, without waiting. Fails with DDP_ERR_COMM. */
ddp_status ddp_chunk_pipeline_progress(ddp_group *g, ddp_error *err);

/* Move chunks in flight along, and ask the transport even if there are none: Gloo then tells of a
 * rank that it has lost. Does not wait. For loops that wait for ranks by other means, as for NCCL.
 * Costs a lock, or a glance at each of the transport's requests. Fails with DDP_ERR_COMM. */
ddp_status ddp_chunk_pipeline_poll_transport(ddp_group *g, ddp_error *err);

/* Engine of sums and all-gathers of host memory, which comm/work.c calls. */
extern const struct ddp_sum_engine ddp_host_engine;

struct ddp_host_sum; /* defined in comm/chunk.h */

/* Start a sum whose count is not 0 and whose phase and wire are set. *s must stay where it is until
 * s->chunks_left is 0. Does not wait. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_chunk_pipeline_start(ddp_group *g, struct ddp_host_sum *s, ddp_error *err);
/* Wait until a started sum has ended. Fails with DDP_ERR_COMM, also after the group's timeout. */
ddp_status ddp_chunk_pipeline_wait(ddp_group *g, struct ddp_host_sum *s, ddp_error *err);

/* Fail with DDP_ERR_COMM if no message to or from this rank has ended for the group's timeout. The
 * time counts from since_ns (by ddp_clock_ns) at the earliest. The text names a rank that owes a
 * message, or has not taken one. Call with sums in flight. */
ddp_status ddp_chunk_pipeline_check_time(ddp_group *g, int64_t since_ns, ddp_error *err);

/* Return the i-th peer of this rank, i from 0 to size - 1; the last one is the rank itself. Each
 * rank has another first peer, so that not all ranks send to the same one. */
static inline int ddp_chunk_pipeline_peer(const ddp_group *g, int i)
{
    return (g->rank + 1 + i) % g->size;
}

#endif
