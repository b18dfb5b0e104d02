/* core/sharded.h: moments of which each rank has parts. A root rank hands them out when a run
 * begins; rank 0 asks for them when a checkpoint is made.
 *
 * Which rank has what is decided elsewhere (algorithms/zero1): here are the messages. Moments are
 * those of a table's parameters that updates change (ddp_moments_trained). Every rank makes the
 * same calls, except for calls that name their ranks (ask, serve); all calls block. */
#ifndef DDP_CORE_SHARDED_H
#define DDP_CORE_SHARDED_H

#include "base/status.h"
#include "comm/group.h"
#include "core/params.h"

#include <stddef.h>

typedef struct ddp_sharded ddp_sharded;

/* Elements begin to end - 1 of a parameter, and their moments: moments[k] has end - begin floats on
 * the table's device; NULL after the parameter's last. */
typedef struct ddp_sharded_range {
    size_t param; /* index of the parameter in the table */
    size_t begin, end;
    float *moments[DDP_OPTIMIZER_BUFFERS];
} ddp_sharded_range;

/* Elements at to at + count - 1 of moments[moment] of table->params[param]. */
typedef struct ddp_sharded_block {
    size_t param;
    int moment;
    size_t at, count;
} ddp_sharded_block;

enum { DDP_SHARDED_BLOCK = 1 << 18 }; /* floats of the largest block */

/* Reads the moments that a run begins with. */
typedef struct ddp_sharded_source {
    /* Read a block, at most DDP_SHARDED_BLOCK floats, to x on the host. */
    ddp_status (*read)(void *ctx, const ddp_sharded_block *block, float *x, ddp_error *err);
    void *ctx;
} ddp_sharded_source;

/* The arguments of ddp_sharded_open. What they point to must outlive the ddp_sharded. */
typedef struct ddp_sharded_of {
    ddp_group *group;
    const ddp_param_table *table;
    const ddp_sharded_range *parts; /* this rank's ranges, sorted by parameter */
    /* param_count + 1 entries: parameter i has parts[first_part[i]] to [first_part[i + 1] - 1] */
    const size_t *first_part;
} ddp_sharded_of;

/* Tell rank 0 which ranges each rank has. *of is copied. *out is set on success. Fails with
 * DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_sharded_open(ddp_sharded **out, const ddp_sharded_of *of,
                            ddp_error *err) DDP_MUST_CHECK;
void ddp_sharded_close(ddp_sharded *s); /* frees s; NULL is allowed */

/* Give each rank its ranges of the moments that rank root reads from `source`, block by block. On
 * other ranks `source` is not used, and may be NULL. Fails with DDP_ERR_COMM, and on root with the
 * source's error: the others then wait until root ends the group. */
ddp_status ddp_sharded_hand_out_moments(const ddp_sharded *s, int root,
                                        const ddp_sharded_source *source,
                                        ddp_error *err) DDP_MUST_CHECK;

/* ---- a checkpoint ----
 *
 * Between two steps rank 0 asks for moments, a block at a time, and the others serve it. So no rank
 * holds more than a block of other ranks' moments, and rank 0 may stop asking after any block. */

/* On rank 0: get a block of a moment, at most DDP_SHARDED_BLOCK floats, whatever ranks have it, and
 * write it to x, on the host. Fails with DDP_ERR_COMM. */
ddp_status ddp_sharded_ask_block(ddp_sharded *s, const ddp_sharded_block *block, float *x,
                                 ddp_error *err) DDP_MUST_CHECK;

/* On rank 0: *finite becomes 1 if the moments of all ranks are finite, else 0. If 0, first->param
 * becomes the first parameter with a number that is not finite, and first->moment its first such
 * moment. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_sharded_ask_finite(ddp_sharded *s, int *finite, ddp_sharded_block *first,
                                  ddp_error *err) DDP_MUST_CHECK;

/* On rank 0: end the asking, so that ddp_sharded_serve_blocks returns on the others. Fails with
 * DDP_ERR_COMM. */
ddp_status ddp_sharded_ask_end(const ddp_sharded *s, ddp_error *err) DDP_MUST_CHECK;

/* On every other rank: answer rank 0 until it ends the asking. Fails with DDP_ERR_NOMEM,
 * DDP_ERR_COMM. */
ddp_status ddp_sharded_serve_blocks(const ddp_sharded *s, ddp_error *err) DDP_MUST_CHECK;

#endif
