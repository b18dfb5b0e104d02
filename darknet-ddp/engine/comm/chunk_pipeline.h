/* comm/chunk_pipeline.h: sums and all-gathers of host memory on top of a transport's messages,
 * chunk by chunk.
 *
 * Sums form a queue in the order in which they were started. They are cut into chunks
 * (comm/chunk.h), of which a few are in flight at a time. That bounds the memory, and while one
 * chunk is added up the messages of the next ones travel. Every rank numbers the chunks alike, and
 * the tag of a message is made of its chunk's number.
 *
 * With -ddp_channels sums take turns at several channels, and a sum's messages match within its
 * channel. With MPI a channel is a communicator (transport/mpi.c). Sums of all channels share the
 * chunks in flight. */
#ifndef DDP_COMM_CHUNK_PIPELINE_H
#define DDP_COMM_CHUNK_PIPELINE_H

#include "comm/backend.h"
#include "comm/work.h"

/* Bytes of the longest message of a sum. A transport should send messages of this length at once:
 * asking the receiver first would take a poll on both sides. */
enum { DDP_CHUNK_MESSAGE_BYTES = 512 * 1024 };

/* Open g->pipeline; g has its ranks and transport already. Close it with ddp_chunk_pipeline_close,
 * also after a failure. Fails with DDP_ERR_NOMEM, or as the transport's reserve. */
ddp_status ddp_chunk_pipeline_open(ddp_group *g, ddp_error *err);

struct ddp_allreduce_algorithm; /* defined in comm/chunk.h */

/* Choose the algorithm that sums chunks (chunk.h). Every rank calls it while no sum is in flight;
 * it may block until all have. Fails as algorithm->open or the transport's reserve; after a failure
 * the next sum uses ddp_allreduce_direct. */
ddp_status ddp_chunk_pipeline_use(ddp_group *g, const struct ddp_allreduce_algorithm *algorithm,
                                  ddp_error *err);

void ddp_chunk_pipeline_close(ddp_group *g); /* frees g->pipeline, which may be NULL */

/* Move sums under way along without waiting; without any, do nothing. Fails with DDP_ERR_NOMEM,
 * DDP_ERR_COMM. */
ddp_status ddp_chunk_pipeline_progress(ddp_group *g, ddp_error *err);

/* Move sums under way along without waiting. If there are none, ask the transport all the same,
 * since Gloo then reports a lost rank. For loops that wait for other ranks by other means, such as
 * NCCL. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_chunk_pipeline_poll_transport(ddp_group *g, ddp_error *err);

/* The engine of sums and all-gathers of host memory (comm/backend.h). */
extern const struct ddp_sum_engine ddp_host_engine;

struct ddp_host_sum; /* defined in comm/chunk.h */

/* Start the sum s, or the half of it that s->work->phase names, without waiting. s->count is not 0.
 * *s must stay where it is until s->chunks_left is 0. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_chunk_pipeline_start(ddp_group *g, struct ddp_host_sum *s, ddp_error *err);
/* Wait until a started sum has ended. Fails with DDP_ERR_COMM, also after the group's timeout, and
 * with DDP_ERR_NOMEM. */
ddp_status ddp_chunk_pipeline_wait(ddp_group *g, struct ddp_host_sum *s, ddp_error *err);

/* Serves ddp_work_share for host memory, and for a GPU whose transport has no own `share`. */
ddp_status ddp_chunk_pipeline_share(const ddp_work *w, ddp_range **ranges, size_t *count,
                                    ddp_error *err);

/* Fail with DDP_ERR_COMM if nothing has moved (last_message_ns in chunk.h) for the group's timeout.
 * Time before since_ns (ddp_clock_ns) does not count, nor a gap of over 2 s between calls. The text
 * names a rank that is waited for. Call only while sums are in flight; passes without a timeout. */
ddp_status ddp_chunk_pipeline_check_time(ddp_group *g, int64_t since_ns, ddp_error *err);

/* Return the i-th peer of this rank, i from 0 to size - 1: rank + 1 first, the rank itself last. So
 * ranks do not all send to the same rank at once. */
static inline int ddp_chunk_pipeline_peer(const ddp_group *g, int i)
{
    return (g->rank + 1 + i) % g->size;
}

#endif
