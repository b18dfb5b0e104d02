/* nccl/tree_plan.h: plans the ordered sums of nccl/tree_sum.h: which slices a rank adds up, and
 * where their addends and sums lie. A plan knows neither NCCL nor a GPU.
 *
 * It is a plan of comm/hierarchical_plan.h in which the whole sum is a single chunk. If sums are
 * direct, each rank counts as a host, and all hosts meet in one stage.
 *
 * A sum is made level by level. At level 0 each rank receives a slice, its lane, from each rank of
 * its host, and adds these. At level s + 1 it receives the slices of the plan's stage s, and adds
 * them. If a slice has several addends, they lie side by side in scratch memory, this rank's own
 * among them, in the order of ranks. So one kernel adds them.
 *
 * The ranks summed so far form one or more branches of the summation tree (device/sum.h). If they
 * form one, as at the last level, a slice has one sum, in the sum's own memory. If they form
 * several branches, a slice has a sum for each, in scratch memory behind the addends. */
#ifndef DDP_NCCL_TREE_PLAN_H
#define DDP_NCCL_TREE_PLAN_H

#include "comm/hierarchical_plan.h"
#include "comm/work.h"

/* A level of a sum: the slices that this rank adds up, and their addends and sums. */
struct ddp_nccl_level {
    const struct ddp_span *slices; /* each slice, as a range of the units of ddp_nccl_plan.route */
    int slice_count;
    int addend_count; /* addends of each slice */
    int sum_count;    /* sums of a slice: one for each branch of its addends */
    int *first_ranks; /* first_ranks[i]: first rank over which addend i is summed; ascending */
    /* by addend: how often a kernel replaces the top two entries of its stack by their sum, after
     * it has pushed this addend (ddp_sum_stack) */
    unsigned char *additions;
};

/* The plan of one rank. */
struct ddp_nccl_plan {
    struct ddp_hierarchical_plan *route; /* units, lanes, stages and transfers of this rank */
    int first_local;      /* first rank of this rank's host; the rank itself if sums are direct */
    int local_size;       /* ranks of this host; 1 if sums are direct */
    struct ddp_span lane; /* units that this rank sums over its host */
    struct ddp_nccl_level *levels; /* the plan's levels, route->stages + 1 of them */
    char schedule[128]; /* the plan in words: "direct", "2 levels (4 ranks a host, then 2 hosts)" */
};

/* Make the plan of a rank among all ranks of `hosts`.
 *
 *   radix         hosts or blocks of hosts that meet in a stage, 2 or more; 0: sums are direct
 *   most_addends  most addends of a slice that the kernel can add; 0: no limit, for a plan of
 *                 second halves, which add nothing
 *
 * *out is set on success. Fails with DDP_ERR_USAGE if a slice has more than most_addends addends,
 * and with DDP_ERR_NOMEM. */
ddp_status ddp_nccl_plan_open(struct ddp_nccl_plan **out, const struct ddp_rank_hosts *hosts,
                              int rank, int radix, int most_addends, ddp_error *err) DDP_MUST_CHECK;
void ddp_nccl_plan_close(struct ddp_nccl_plan *p); /* frees p; NULL is allowed */

/* Set *ranges to this rank's share of a sum of `count` floats (ddp_work_share): *range_count
 * ranges. The caller frees *ranges. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_nccl_plan_share(const struct ddp_nccl_plan *p, size_t count, ddp_range **ranges,
                               size_t *range_count, ddp_error *err) DDP_MUST_CHECK;

/* ---- where slices, addends and sums lie ---- */

/* Return the elements of slice i of level l, in a sum of `count` floats. */
struct ddp_slice ddp_nccl_plan_slice(const struct ddp_nccl_plan *p, size_t count, int l, int i);

/* Return how many floats of scratch memory a sum of `count` floats takes. */
size_t ddp_nccl_plan_scratch(const struct ddp_nccl_plan *p, size_t count);

/* Return the index in scratch memory of addend k of slice i of level l, in a sum of `count`
 * floats. The level must have several addends: a single one is not in scratch memory. */
size_t ddp_nccl_plan_addend(const struct ddp_nccl_plan *p, size_t count, int l, int i, int k);
/* Return the index in scratch memory of sum k of slice i of level l, in a sum of `count` floats.
 * The level must have several sums: a single one is not in scratch memory. */
size_t ddp_nccl_plan_sum(const struct ddp_nccl_plan *p, size_t count, int l, int i, int k);

/* Return the index of a level's addend whose first rank is `rank`; there must be one. */
int ddp_nccl_level_addend(const struct ddp_nccl_level *level, int rank);

#endif
