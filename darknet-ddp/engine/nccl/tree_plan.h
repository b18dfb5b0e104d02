/* nccl/tree_plan.h: which rank sums what with which, and where it lies meanwhile, in sums that
 * nccl/tree_sum.h makes. It is a plan of comm/hierarchical_plan.h for a whole sum at once:
 *
 *   levels   within a host each rank gets its lane of all the host's ranks, and sums it; then
 *            lanes are summed over hosts, in stages, and come back the same ways
 *   direct   the same plan, as if each rank were a host and all one stage
 *
 * A sum goes from level to level. At level 0 the parts of the host's ranks come together in each
 * rank's lane, at level s + 1 what stage s of the plan brings. A level's parts lie side by side in
 * scratch memory, this rank's own among them, in the order of ranks, so that one kernel makes the
 * sums of each piece. These sums are one float an element where the ranks summed so far are one
 * branch of the tree, and then lie in the sum's own memory, where the last level's belong; else a
 * few, behind the parts.
 *
 * It knows neither NCCL nor a GPU. */
#ifndef DDP_NCCL_TREE_PLAN_H
#define DDP_NCCL_TREE_PLAN_H

#include "comm/hierarchical_plan.h"
#include "comm/work.h"

/* What comes together at a level, in each of its pieces, and what it becomes. */
struct ddp_nccl_level {
    const struct ddp_span *pieces; /* units of the plan */
    int piece_count;
    int parts, sums;          /* nodes of the tree, before and after */
    int *firsts;              /* of each part: its first rank */
    unsigned char *additions; /* as ddp_sum_stack has them */
};

struct ddp_nccl_plan {
    struct ddp_hierarchical_plan *route; /* who gives what to whom */
    int first_local;                     /* the host's first rank, as the plan has hosts */
    int local_size;
    struct ddp_span lane;          /* this rank's */
    struct ddp_nccl_level *levels; /* route->stages + 1 */
    char schedule[128]; /* for people: "direct", "2 levels (4 ranks a host, then 2 hosts)" */
};

/* hosts: of all ranks. radix: of the stages; 0: direct. most_parts: how many can be added at once;
 * 0: nothing will be, since only second halves of sums go by this plan. *out is set on success.
 * Fails with DDP_ERR_NOMEM, and DDP_ERR_USAGE where more than most_parts come together. */
ddp_status ddp_nccl_plan_open(struct ddp_nccl_plan **out, const struct ddp_rank_hosts *hosts,
                              int rank, int radix, int most_parts, ddp_error *err) DDP_MUST_CHECK;
void ddp_nccl_plan_close(struct ddp_nccl_plan *p); /* NULL is allowed */

/* What this rank has after the first half of a sum of count floats, as ddp_work_share. */
ddp_status ddp_nccl_plan_share(const struct ddp_nccl_plan *p, size_t count, ddp_range **ranges,
                               size_t *range_count, ddp_error *err) DDP_MUST_CHECK;

/* ---- where it lies: each of a sum of count floats ---- */

/* A part of a sum: count elements from `begin` on. */
struct ddp_nccl_slice {
    size_t begin, count;
};

/* What units are, and piece i of level l. */
struct ddp_nccl_slice ddp_nccl_plan_slice(const struct ddp_nccl_plan *p, size_t count,
                                          struct ddp_span units);
struct ddp_nccl_slice ddp_nccl_plan_nth(const struct ddp_nccl_plan *p, size_t count, int l, int i);

/* Floats of scratch memory that a sum takes. */
size_t ddp_nccl_plan_scratch(const struct ddp_nccl_plan *p, size_t count);

/* Where in it part `part` of piece i at level l lies, and sum k of that piece, where the level has
 * several sums. */
size_t ddp_nccl_plan_part(const struct ddp_nccl_plan *p, size_t count, int l, int i, int part);
size_t ddp_nccl_plan_sum(const struct ddp_nccl_plan *p, size_t count, int l, int i, int k);

/* Which part of a level begins with this rank. */
int ddp_nccl_level_part(const struct ddp_nccl_level *level, int rank);

#endif
