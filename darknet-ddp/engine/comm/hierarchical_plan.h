/* comm/hierarchical_plan.h: plans hierarchical sums: which slice of a chunk each rank sums, and
 * with which other ranks it exchanges slices. A plan knows no memory and sends nothing.
 *
 * A chunk is cut into `units` of about equal size, at multiples of DDP_WIRE_BLOCK floats. A slice
 * is some neighbouring units.
 *
 * 1. The units form lanes, as many as the largest host has ranks. Within each host, every rank sums
 *    a lane over the ranks of the host. On a smaller host some ranks sum several lanes.
 * 2. Lanes are summed over hosts in stages. In the first stage `radix` neighbouring hosts meet and
 *    form a block. The ranks with the same lane cut it into a slice for each of these hosts, send
 *    each other the slices, and sum one each. In each later stage `radix` neighbouring blocks meet
 *    and do so with the slices that they have summed. After the last stage each slice is summed
 *    over all ranks.
 * 3. The sums go back by the same transfers in reverse, the last stage first. Then each rank gives
 *    its lanes to the other ranks of its host.
 *
 * Before the last stage, a block of fewer than `radix` has some hosts that hold several slices.
 *
 * The ranks of a block may form several branches of the summation tree (device/sum.h) instead of
 * one. A rank then sends one message for each branch, with its sum.
 *
 * Example: 2 hosts of 3 ranks, ranks 0 1 2 and 3 4 5; 6 units, one stage, lanes of 2 units. The
 * tree is ((0 + 1) + (2 + 3)) + (4 + 5).
 *
 *   rank                      0      1      2      3      4      5
 *   sums in its host units    0 1    2 3    4 5    0 1    2 3    4 5      stage[0].held
 *   sends units               1      3      5      0      2      4        stage[0].transfers
 *     to rank                 3      4      5      0      1      2
 *   receives units            0      2      4      1      3      5
 *     from rank               3      4      5      0      1      2
 *   then has the sum of all   0      2      4      1      3      5        stage[1].held
 *   sends this back to        3      4      5      0      1      2
 *   gives its host units      0 1    2 3    4 5    0 1    2 3    4 5
 *
 * Ranks 0 1 2 form the branches 0 + 1 and 2 of the tree, ranks 3 4 5 the branches 3 and 4 + 5. So
 * each rank sends the sums of its two branches, receives two, and adds the four in the order of the
 * tree. It sends one message back. */
#ifndef DDP_COMM_HIERARCHICAL_PLAN_H
#define DDP_COMM_HIERARCHICAL_PLAN_H

#include "base/status.h"
#include "device/wire.h"

#include <stddef.h>

/* The ranks of each host: host h has ranks first[h] to first[h + 1] - 1. */
struct ddp_rank_hosts {
    int count;  /* number of hosts */
    int *first; /* count + 1 entries */
};

/* Units begin to end - 1 of a chunk, or ranks begin to end - 1. */
struct ddp_span {
    int begin, end;
};

/* A slice that this rank sends to another, or receives from it, in a stage. On the way back the sum
 * of the slice goes in the other direction. */
struct ddp_stage_transfer {
    int peer;              /* the other rank */
    int incoming;          /* 1: from peer; 0: to peer */
    struct ddp_span units; /* units of the slice */
    /* With incoming 1: index in the next stage's `held` of the slice to which this one is added.
     * With incoming 0: index in this stage's `held` of the slice from which this one is cut. */
    int held;
    struct ddp_span ranks; /* ranks over which the sender has summed the slice */
};

/* A stage: the slices that this rank has summed before it, and the transfers in it. */
struct ddp_stage {
    struct ddp_span ranks; /* ranks over which the held slices are summed */
    struct ddp_span *held; /* the held slices, each as its units, ascending */
    /* from[i]: index of the slice from which held[i] is cut, in the previous stage's `held`; all 0
     * in stage 0 */
    int *from;
    int held_count;
    struct ddp_stage_transfer *transfers; /* ordered by units, so that both ranks' messages match */
    int transfer_count;
};

/* The plan of one rank. The plans of all ranks fit together. */
struct ddp_hierarchical_plan {
    int units;               /* number of units of a chunk */
    struct ddp_span *lanes;  /* by local rank: the units that the rank sums over its host */
    int stages;              /* number of stages with transfers */
    struct ddp_stage *stage; /* stages + 1 entries; the last holds the final slices, no transfers */
};

/* Make the plan of a rank among all ranks of `hosts`. radix: hosts or blocks that meet in a stage,
 * at least 2. *out is set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_hierarchical_plan_open(struct ddp_hierarchical_plan **out,
                                      const struct ddp_rank_hosts *hosts, int rank, int radix,
                                      ddp_error *err) DDP_MUST_CHECK;
/* Free plan; NULL is allowed. */
void ddp_hierarchical_plan_close(struct ddp_hierarchical_plan *plan);

/* Elements begin to begin + count - 1 of a chunk. */
struct ddp_slice {
    size_t begin, count;
};

/* Return the elements that these units make up in a chunk of `count` elements. */
struct ddp_slice ddp_hierarchical_plan_slice(const struct ddp_hierarchical_plan *plan, size_t count,
                                             struct ddp_span units);

/* Return how many stages sums over `hosts` hosts take if radix (2 or more) hosts or blocks meet in
 * each; 0 for one host. */
int ddp_hierarchical_stages(int hosts, int radix);

#endif
