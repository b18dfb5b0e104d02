/* core/sharded.h: messages for the optimizer's moments if each rank has only parts of them, as in
 * ZeRO-1. When a run begins with moments, a root rank sends them to all, and each rank keeps its
 * parts. When a checkpoint is made, rank 0 asks the others for theirs.
 *
 * algorithms/zero1 says which rank has which parts. Moments are those of a table's parameters that
 * updates change (ddp_moments_trained). Every rank makes the same calls, except that rank 0 asks
 * and the others serve. All calls but ddp_sharded_close may block. */
#ifndef DDP_CORE_SHARDED_H
#define DDP_CORE_SHARDED_H

#include "base/status.h"
#include "comm/group.h"
#include "core/params.h"

#include <stddef.h>

typedef struct ddp_sharded ddp_sharded;

/* Elements begin to end - 1 of a parameter, whose moments one rank has. */
typedef struct ddp_sharded_range {
    size_t param; /* index of the parameter in the table */
    size_t begin, end;
    float *moments[DDP_OPTIMIZER_BUFFERS]; /* by moment: end - begin floats on the table's device;
                                              NULL after the parameter's last moment */
} ddp_sharded_range;

/* Elements at to at + count - 1 of moments[moment] of table->params[param]; several ranks may have
 * parts of them. */
typedef struct ddp_sharded_block {
    size_t param;
    int moment;
    size_t at, count;
} ddp_sharded_block;

enum { DDP_SHARDED_BLOCK = 1 << 18 }; /* most floats of a ddp_sharded_block */

/* Where the root rank reads the moments that a run begins with. */
typedef struct ddp_sharded_source {
    /* Read a block, at most DDP_SHARDED_BLOCK floats, to x on the host.
     * ddp_sharded_hand_out_moments fails with its error. */
    ddp_status (*read)(void *ctx, const ddp_sharded_block *block, float *x, ddp_error *err);
    void *ctx;
} ddp_sharded_source;

/* Settings of a ddp_sharded. All that they point to must outlive it. */
typedef struct ddp_sharded_config {
    ddp_group *group;
    const ddp_param_table *table;
    const ddp_sharded_range *ranges; /* this rank's ranges, sorted by parameter */
    /* param_count + 1 entries: parameter i has ranges[first_range[i]] to
     * [first_range[i + 1] - 1] */
    const size_t *first_range;
} ddp_sharded_config;

/* Open the moments, and tell rank 0 which ranges each rank has. *config is copied. *out is set on
 * success. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_sharded_open(ddp_sharded **out, const ddp_sharded_config *config,
                            ddp_error *err) DDP_MUST_CHECK;
void ddp_sharded_close(ddp_sharded *s); /* frees s; NULL is allowed */

/* Set all moments when a run begins: rank root reads them from `source`, block by block, and each
 * rank keeps its ranges. Other ranks do not use `source`; it may be NULL there. Fails with
 * DDP_ERR_NOMEM, DDP_ERR_COMM, and on root with the source's error; the other ranks then wait until
 * root ends the group. */
ddp_status ddp_sharded_hand_out_moments(const ddp_sharded *s, int root,
                                        const ddp_sharded_source *source,
                                        ddp_error *err) DDP_MUST_CHECK;

/* ---- a checkpoint ----
 *
 * Between two steps rank 0 asks for moments, a block at a time, while the other ranks are in
 * ddp_sharded_serve_blocks. So no rank holds more than a block of other ranks' moments, and rank 0
 * may stop after any block. */

/* On rank 0: get a block of at most DDP_SHARDED_BLOCK floats from the ranks that have it, and write
 * it to x, on the host. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_sharded_ask_block(ddp_sharded *s, const ddp_sharded_block *block, float *x,
                                 ddp_error *err) DDP_MUST_CHECK;

/* On rank 0: *finite becomes 1 if the moments of all ranks are finite, else 0. If it is 0,
 * first->param and first->moment become the first moment with a number that is not finite. Fails
 * with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_sharded_ask_finite(ddp_sharded *s, int *finite, ddp_sharded_block *first,
                                  ddp_error *err) DDP_MUST_CHECK;

/* On rank 0: end the checkpoint, also one that failed without DDP_ERR_COMM. Until then the other
 * ranks stay in ddp_sharded_serve_blocks. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_sharded_ask_end(const ddp_sharded *s, ddp_error *err) DDP_MUST_CHECK;

/* On every other rank: answer rank 0 until it calls ddp_sharded_ask_end. Fails with DDP_ERR_NOMEM,
 * DDP_ERR_COMM. */
ddp_status ddp_sharded_serve_blocks(const ddp_sharded *s, ddp_error *err) DDP_MUST_CHECK;

#endif
