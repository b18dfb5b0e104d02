/* nccl/tree_plan.h: a plan of sums that nccl/tree_sum.h makes: which ranks add up what, and where
 * addends and sums lie. It is a plan of comm/hierarchical_plan.h for a whole sum at once:
 *
 *   levels   within a host each rank gets its lane of all the host's ranks, and sums it; then
 *            lanes are summed over hosts, in stages, and come back the same ways
 *   direct   the same plan, as if each rank were a host, and all hosts met in one stage
 *
 * A sum goes from level to level. At level 0 what the host's ranks have comes together in each
 * rank's lane; at level s + 1, what stage s of the plan brings. These addends lie side by side in
 * scratch memory, this rank's own among them, in the order of ranks, so that one kernel makes the
 * sums of each slice. A level has one sum if the ranks summed so far are one branch of the tree. It
 * then lies in the sum's own memory, as the last level's does. If the level has several sums, they
 * lie behind the addends.
 *
 * It knows neither NCCL nor a GPU. */
#ifndef DDP_NCCL_TREE_PLAN_H
#define DDP_NCCL_TREE_PLAN_H

#include "comm/hierarchical_plan.h"
#include "comm/work.h"

/* A level: the slices that one step of a sum adds up, and their addends and sums. */
struct ddp_nccl_level {
    /* the slices that this rank sums at this level, as spans of the units into which
     * ddp_nccl_plan.route cuts a sum */
    const struct ddp_span *pieces;
    int piece_count;
    int parts, sums; /* parts: addends of a slice, sums: what they become, all nodes of the tree */
    int *firsts;     /* by addend: its first rank */
    /* By addend: how many times the top two of a stack become their sum after this addend is pushed
     * (ddp_sum_stack). */
    unsigned char *additions;
};

struct ddp_nccl_plan {
    struct ddp_hierarchical_plan *route; /* which slice goes from which rank to which */
    int first_local;      /* first rank of this rank's host; the rank itself if sums are direct */
    int local_size;       /* ranks of this host; 1 if sums are direct */
    struct ddp_span lane; /* units that this rank sums over its host */
    struct ddp_nccl_level *levels; /* within the host, then by stage: route->stages + 1 entries */
    char schedule[128]; /* the plan in words: "direct", "2 levels (4 ranks a host, then 2 hosts)" */
};

/* Plan the sums of one rank among all ranks of `hosts`. In a stage `radix` hosts meet; 0: sums are
 * direct. A kernel takes most_parts addends at most; 0: no limit, since only second halves go by
 * the plan. *out is set on success. Fails with DDP_ERR_USAGE (more than most_parts addends come
 * together), DDP_ERR_NOMEM. */
ddp_status ddp_nccl_plan_open(struct ddp_nccl_plan **out, const struct ddp_rank_hosts *hosts,
                              int rank, int radix, int most_parts, ddp_error *err) DDP_MUST_CHECK;
void ddp_nccl_plan_close(struct ddp_nccl_plan *p); /* frees p; NULL is allowed */

/* Return this rank's share of a sum of `count` floats, as ddp_work_share does: *range_count ranges
 * in *ranges, which the caller frees. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_nccl_plan_share(const struct ddp_nccl_plan *p, size_t count, ddp_range **ranges,
                               size_t *range_count, ddp_error *err) DDP_MUST_CHECK;

/* ---- where things lie, for a sum of count floats ---- */

/* Elements begin to begin + count - 1 of a sum. */
struct ddp_nccl_slice {
    size_t begin, count;
};

/* Return the elements of a sum of `count` floats that make up these units. */
struct ddp_nccl_slice ddp_nccl_plan_slice(const struct ddp_nccl_plan *p, size_t count,
                                          struct ddp_span units);
/* Return the elements of slice i of level l, in a sum of `count` floats. */
struct ddp_nccl_slice ddp_nccl_plan_nth(const struct ddp_nccl_plan *p, size_t count, int l, int i);

/* Return how many floats of scratch memory a sum of `count` floats takes. */
size_t ddp_nccl_plan_scratch(const struct ddp_nccl_plan *p, size_t count);

/* Return the index in scratch memory of addend `part` of slice i at level l, in a sum of `count`
 * floats. The level must have several addends: a single one is not in scratch memory. */
size_t ddp_nccl_plan_part(const struct ddp_nccl_plan *p, size_t count, int l, int i, int part);
/* Return the index in scratch memory of sum k of slice i at level l, if it has several sums. */
size_t ddp_nccl_plan_sum(const struct ddp_nccl_plan *p, size_t count, int l, int i, int k);

/* Return the index of the addend of a level whose first rank is `rank`; there must be one. */
int ddp_nccl_level_part(const struct ddp_nccl_level *level, int rank);

#endif
