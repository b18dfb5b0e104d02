/* core/sharded.h: moments of which each rank has parts, as rank 0 hands them out when a run begins
 * and asks for them when a checkpoint is made.
 *
 * Which rank has what is decided elsewhere (algorithms/zero1): here are the messages. Moments are
 * those that updates change of a table's parameters (ddp_moments_trained). Calls are collective but
 * for those that say on which ranks they are.
 */
#ifndef DDP_CORE_SHARDED_H
#define DDP_CORE_SHARDED_H

#include "base/status.h"
#include "comm/group.h"
#include "core/params.h"

#include <stddef.h>

typedef struct ddp_sharded ddp_sharded;

/* Elements begin to end of a parameter, and their moments, end - begin of each, on the table's
 * device; NULL after the parameter's last. */
typedef struct ddp_sharded_range {
    size_t param; /* index in the table */
    size_t begin, end;
    float *moments[DDP_OPTIMIZER_BUFFERS];
} ddp_sharded_range;

/* Elements at to at + count of a moment of the table's parameter `param`. */
typedef struct ddp_sharded_block {
    size_t param;
    int moment;
    size_t at, count;
} ddp_sharded_block;

enum { DDP_SHARDED_BLOCK = 1 << 18 }; /* floats, the largest block */

/* Where moments are that a run begins with. */
typedef struct ddp_sharded_source {
    /* At most DDP_SHARDED_BLOCK floats, to x, on the host. */
    ddp_status (*read)(void *ctx, const ddp_sharded_block *block, float *x, ddp_error *err);
    void *ctx;
} ddp_sharded_source;

/* This rank's ranges; all of it must outlive the ddp_sharded. */
typedef struct ddp_sharded_of {
    ddp_group *group;
    const ddp_param_table *table;
    const ddp_sharded_range *parts; /* by parameter */
    const size_t *first_part;       /* param_count + 1 entries: parts[first[i] .. first[i + 1]) */
} ddp_sharded_of;

/* Tell rank 0 which ranges each rank has. Every rank calls it. *out is set on success. Fails with
 * DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_sharded_open(ddp_sharded **out, const ddp_sharded_of *of,
                            ddp_error *err) DDP_MUST_CHECK;
void ddp_sharded_close(ddp_sharded *s); /* NULL is allowed */

/* Give each rank its parts of the moments that rank root reads from `source`, block by block. The
 * others' source is not read. Fails with DDP_ERR_COMM, and on root as the source. */
ddp_status ddp_sharded_hand_out_moments(const ddp_sharded *s, int root,
                                        const ddp_sharded_source *source,
                                        ddp_error *err) DDP_MUST_CHECK;

/* ---- a checkpoint ----
 *
 * Between two steps rank 0 asks for moments, a block at a time, and the others serve it. So no rank
 * has more of others' than a block, and rank 0 may stop asking where it likes. */

/* On rank 0: copy a block of a moment that is sharded to x, on the host. Fails with DDP_ERR_COMM.
 */
ddp_status ddp_sharded_ask_block(ddp_sharded *s, const ddp_sharded_block *block, float *x,
                                 ddp_error *err) DDP_MUST_CHECK;

/* On rank 0: *finite becomes 1 if all moments are finite. If not, *first names the first parameter
 * that has another number, and its first moment that has one. Fails with DDP_ERR_NOMEM,
 * DDP_ERR_COMM. */
ddp_status ddp_sharded_ask_finite(ddp_sharded *s, int *finite, ddp_sharded_block *first,
                                  ddp_error *err) DDP_MUST_CHECK;

/* On rank 0: end the asking. Fails with DDP_ERR_COMM. */
ddp_status ddp_sharded_ask_end(const ddp_sharded *s, ddp_error *err) DDP_MUST_CHECK;

/* On every other rank: answer until rank 0 ends the asking. Fails with DDP_ERR_COMM. */
ddp_status ddp_sharded_serve_blocks(const ddp_sharded *s, ddp_error *err) DDP_MUST_CHECK;

#endif
