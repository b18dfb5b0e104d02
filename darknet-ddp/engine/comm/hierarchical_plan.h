/* comm/hierarchical_plan.h: which part of a chunk a rank sums with whom, where sums go host by
 * host.
 *
 * A chunk is cut into `units`, as equal as can be. Within a host each rank sums some of them over
 * the host's ranks, the same place on every host where hosts have as many ranks: its lane. Then
 * lanes are summed over hosts in stages: `radix` hosts that stand side by side give each other a
 * part of their lane each, which it sums; in the next stage `radix` such blocks do so with what
 * each of their hosts holds. After each stage a rank holds a smaller part of the chunk, summed over
 * more ranks; after the last stage it is summed over all. Then the sums go back the same ways.
 *
 * Where the last block of a stage is incomplete its hosts hold several parts. A block whose ranks
 * are no whole branch of the tree (device/sum.h) hands on the sums of the branches that it has.
 *
 * A plan is one rank's; those of all ranks fit together. It knows no memory and no messages. */
#ifndef DDP_COMM_HIERARCHICAL_PLAN_H
#define DDP_COMM_HIERARCHICAL_PLAN_H

#include "base/status.h"

#include <stddef.h>

/* Ranks are numbered host by host: those of host h are first[h] .. first[h + 1]. */
struct ddp_rank_hosts {
    int count;
    int *first; /* count + 1 of them */
};

struct ddp_span {
    int begin, end;
};

/* One part of a chunk, of one rank, to one rank. */
struct ddp_stage_transfer {
    int peer;
    int incoming;          /* on the way up; on the way down it is the other way around */
    struct ddp_span units; /* of the chunk */
    int held; /* incoming: where it goes to in the next stage's `held`; else where it is in this
                 one's */
    struct ddp_span ranks; /* whose sums these are */
};

/* What a rank has before a stage's transfers; of the last, behind all, there are none. */
struct ddp_stage {
    struct ddp_span ranks; /* that have been summed */
    struct ddp_span *held; /* units, in order */
    int *from;             /* for each held: what it is a part of in the stage before */
    int held_count;
    struct ddp_stage_transfer *transfers; /* two ranks' come in the same order on both */
    int transfer_count;
};

struct ddp_hierarchical_plan {
    int units;
    struct ddp_span *lanes; /* units of each rank of this host, in order of rank: together all */
    int stages;             /* with transfers */
    struct ddp_stage *stage;
};

/* radix at least 2. Release *out, which is set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_hierarchical_plan_open(struct ddp_hierarchical_plan **out,
                                      const struct ddp_rank_hosts *hosts, int rank, int radix,
                                      ddp_error *err) DDP_MUST_CHECK;
void ddp_hierarchical_plan_close(struct ddp_hierarchical_plan *plan); /* NULL is allowed */

/* The elements of units in a chunk of count. */
static inline size_t ddp_unit_begin(const struct ddp_hierarchical_plan *plan, size_t count,
                                    int unit)
{
    return count * (size_t)unit / (size_t)plan->units;
}

/* How many stages sums over so many hosts take. */
int ddp_hierarchical_stages(int hosts, int radix);

#endif
