/* comm/nccl_ordered.h: sums of a GPU's memory in the order of device/sum.h, by NCCL's messages and
 * a kernel. Included by comm/nccl*.c alone.
 *
 * Who sums what with whom is a plan of comm/levels_plan.h, of a whole sum at once:
 *
 *   levels   within a host each rank gets its lane of all the host's ranks, and sums it; then
 *            lanes are summed over hosts, in stages, and come back the same ways
 *   direct   the same plan, as if each rank were a host and all one stage
 *
 * Both have the same bits. */
#ifndef DDP_COMM_NCCL_ORDERED_H
#define DDP_COMM_NCCL_ORDERED_H

#include "comm/nccl_state.h"

struct ddp_nccl_ordered;

/* What a rank does, from where the group's ranks are and from the schedule that it wants
 * (ddp_group_use_schedule). *out is set on success. Fails with DDP_ERR_NOMEM, and DDP_ERR_USAGE,
 * where more parts come together than a kernel adds. */
ddp_status ddp_nccl_ordered_open(struct ddp_nccl_ordered **out, ddp_group *g,
                                 ddp_error *err) DDP_MUST_CHECK;
void ddp_nccl_ordered_close(struct ddp_nccl_ordered *o); /* NULL is allowed */

/* Floats of scratch memory that a sum of count floats takes. */
size_t ddp_nccl_ordered_scratch(const struct ddp_nccl_ordered *o, size_t count);

/* What this rank has after the first half of a sum of count floats, as ddp_allreduce_share. */
ddp_status ddp_nccl_ordered_share(const struct ddp_nccl_ordered *o, size_t count,
                                  ddp_range **ranges, size_t *range_count,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Queue a sum, or its half a->half, on the channel's stream, in place; counts what it sends
 * (ddp_group_traffic). DDP_GATHER takes no scratch memory. */
ddp_status ddp_nccl_ordered_sum(const struct ddp_nccl_ordered *o, const ddp_allreduce *a,
                                const struct ddp_nccl_channel *n, ddp_error *err) DDP_MUST_CHECK;

/* For people: "direct", "2 levels (4 ranks a host, then 2 hosts)"; lives as long as o. */
const char *ddp_nccl_ordered_schedule(const struct ddp_nccl_ordered *o);

#endif
