/* comm/hierarchical_plan.h: which slice of a chunk a rank sums with whom, where sums go host by
 * host.
 *
 * A chunk is cut into `units` of equal size, as nearly as whole blocks (device/wire.h) allow. A
 * slice is some units that stand side by side.
 *
 * 1. Within a host each rank sums one slice of the chunk over the host's ranks: its lane. Lane k is
 *    the same slice on every host that has as many ranks; a host with fewer has several lanes on
 *    some rank.
 * 2. Lanes are summed over hosts in stages. In the first stage `radix` neighbouring hosts make a
 *    block: each cuts its lane and gives every other one a slice, which that one sums. In the next
 *    stage `radix` neighbouring blocks do so with the slices that they have summed. After each
 *    stage a rank holds a smaller slice, summed over more ranks. After the last stage it is summed
 *    over all.
 * 3. The sums go back the same ways, the last stage first. Then each rank gives its lane to the
 *    others of its host.
 *
 * If the last block of a stage is incomplete, its hosts hold several slices. The ranks of a block
 * may make several branches of the tree (device/sum.h) and no whole one. A rank then sends the sum
 * of each of these branches, a message each.
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
 * Ranks 0 1 2 make the branches 0 + 1 and 2 of the tree; ranks 3 4 5 make 3 and 4 + 5. So a rank
 * sends two messages, the sums of both branches, and gets two. It adds the four as the tree has
 * them, and sends one message back.
 *
 * A plan is one rank's; the plans of all ranks fit together. It knows no memory and no messages. */
#ifndef DDP_COMM_HIERARCHICAL_PLAN_H
#define DDP_COMM_HIERARCHICAL_PLAN_H

#include "base/status.h"
#include "device/wire.h"

#include <stddef.h>

/* Which ranks are on one host: those of host h are first[h] to first[h + 1] - 1. */
struct ddp_rank_hosts {
    int count;  /* how many hosts there are */
    int *first; /* by host, and one more at the end: the host's first rank */
};

/* Neighbours: units (equal cuts of a chunk) begin to end - 1, or ranks begin to end - 1. */
struct ddp_span {
    int begin, end;
};

/* A slice that goes from one rank to another while sums are made; sums go back the other way. */
struct ddp_stage_transfer {
    int peer;              /* the other rank */
    int incoming;          /* 1: from peer; 0: to peer */
    struct ddp_span units; /* units that make up the slice */
    /* With incoming: index in the next stage's `held` of the slice to which this one is added.
     * Without: index in this stage's `held` of the slice from which this one is cut. */
    int held;
    struct ddp_span ranks; /* ranks over which the sender has summed the slice */
};

/* Slices that a rank holds before the transfers of a stage, and these transfers. The entry behind
 * the last stage has no transfers. */
struct ddp_stage {
    struct ddp_span ranks; /* ranks over which the held slices are summed */
    struct ddp_span *held; /* the slices that the rank holds before the stage, in order */
    /* by entry of `held`: index of the slice that it is cut from in the previous stage's `held`;
     * all 0 in stage 0 */
    int *from;
    int held_count;
    struct ddp_stage_transfer *transfers; /* transfers of this stage; two ranks list the transfers
                                             between them in the same order */
    int transfer_count;
};

struct ddp_hierarchical_plan {
    int units;               /* how many units of about equal size a chunk is cut into */
    struct ddp_span *lanes;  /* units that each local rank sums over its host; together all */
    int stages;              /* how many entries of `stage` have transfers: all but the last */
    struct ddp_stage *stage; /* slices and transfers by stage; stages + 1 entries */
};

/* Plan the sums of one rank among all ranks of `hosts`. radix: how many hosts or blocks meet in a
 * stage, at least 2. *out is set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_hierarchical_plan_open(struct ddp_hierarchical_plan **out,
                                      const struct ddp_rank_hosts *hosts, int rank, int radix,
                                      ddp_error *err) DDP_MUST_CHECK;
void ddp_hierarchical_plan_close(
    struct ddp_hierarchical_plan *plan); /* frees it; NULL is allowed */

/* Return the element with which a unit begins, in a chunk of `count` elements. unit may be
 * plan->units: returns count. */
static inline size_t ddp_unit_begin(const struct ddp_hierarchical_plan *plan, size_t count,
                                    int unit)
{
    return ddp_wire_slice(count, (size_t)unit, (size_t)plan->units);
}

/* Return how many stages sums over `hosts` hosts take, with radix hosts or blocks in each. */
int ddp_hierarchical_stages(int hosts, int radix);

#endif
