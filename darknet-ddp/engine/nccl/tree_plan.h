/* nccl/tree_plan.h: which rank sums what with which, and where it lies meanwhile, in sums that
 * nccl/tree_sum.h makes. It is a plan of comm/hierarchical_plan.h for a whole sum at once:
 *
 *   levels   within a host each rank gets its lane of all the host's ranks, and sums it; then
 *            lanes are summed over hosts, in stages, and come back the same ways
 *   direct   the same plan, as if each rank were a host and all one stage
 *
 * A sum goes from level to level. At level 0 what the host's ranks have comes together in each
 * rank's lane; at level s + 1, what stage s of the plan brings. These addends lie side by side in
 * scratch memory, this rank's own among them, in the order of ranks, so that one kernel makes the
 * sums of each slice. A level has one sum
 * if the ranks summed so far are one branch of the tree. It then lies in the sum's own memory, as
 * the last level's does. Else there are a few sums, and they lie behind the addends.
 *
 * It knows neither NCCL nor a GPU. */
#ifndef DDP_NCCL_TREE_PLAN_H
#define DDP_NCCL_TREE_PLAN_H

#include "comm/hierarchical_plan.h"
#include "comm/work.h"

/* The addends and sums of a level, in each of its slices. */
struct ddp_nccl_level {
    const struct ddp_span *pieces; /* the slices, in units of the plan */
    int piece_count;
    int parts, sums; /* nodes of the tree: addends, and what they become */
    int *firsts;     /* by addend: its first rank */
    /* By addend: how many times the top two become their sum once it is pushed (ddp_sum_stack). */
    unsigned char *additions;
};

struct ddp_nccl_plan {
    struct ddp_hierarchical_plan *route; /* who gives what to whom */
    int first_local;                     /* the host's first rank, as the plan has hosts */
    int local_size;
    struct ddp_span lane;          /* this rank's */
    struct ddp_nccl_level *levels; /* route->stages + 1 */
    char schedule[128]; /* for people: "direct", "2 levels (4 ranks a host, then 2 hosts)" */
};

/* Plan the sums of a rank. *out is set on success. The radix is that of the stages; 0: direct. A
 * kernel takes most_parts addends; 0: nothing is added, as only second halves go by the plan. Fails
 * with DDP_ERR_NOMEM, and with DDP_ERR_USAGE if more than most_parts come together. */
ddp_status ddp_nccl_plan_open(struct ddp_nccl_plan **out, const struct ddp_rank_hosts *hosts,
                              int rank, int radix, int most_parts, ddp_error *err) DDP_MUST_CHECK;
void ddp_nccl_plan_close(struct ddp_nccl_plan *p); /* NULL is allowed */

/* Return this rank's share of a sum of count floats, as ddp_work_share does. */
ddp_status ddp_nccl_plan_share(const struct ddp_nccl_plan *p, size_t count, ddp_range **ranges,
                               size_t *range_count, ddp_error *err) DDP_MUST_CHECK;

/* ---- where things lie, for a sum of count floats ---- */

/* count elements of a sum, from `begin` on. */
struct ddp_nccl_slice {
    size_t begin, count;
};

/* Return the elements that units are, and those of slice i of level l. */
struct ddp_nccl_slice ddp_nccl_plan_slice(const struct ddp_nccl_plan *p, size_t count,
                                          struct ddp_span units);
struct ddp_nccl_slice ddp_nccl_plan_nth(const struct ddp_nccl_plan *p, size_t count, int l, int i);

/* Return the floats of scratch memory that a sum takes. */
size_t ddp_nccl_plan_scratch(const struct ddp_nccl_plan *p, size_t count);

/* Return where in it addend `part` of slice i at level l lies; and sum k of that slice, if the
 * level has several. */
size_t ddp_nccl_plan_part(const struct ddp_nccl_plan *p, size_t count, int l, int i, int part);
size_t ddp_nccl_plan_sum(const struct ddp_nccl_plan *p, size_t count, int l, int i, int k);

/* Return which addend of a level begins with this rank. */
int ddp_nccl_level_part(const struct ddp_nccl_level *level, int rank);

#endif
