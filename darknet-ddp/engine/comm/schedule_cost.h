/* comm/schedule_cost.h: a model of what the two algorithms for sums of host memory (comm/chunk.h)
 * cost, by which ddp_group_use_schedule chooses one of them. Pure functions. */
#ifndef DDP_COMM_SCHEDULE_COST_H
#define DDP_COMM_SCHEDULE_COST_H

#include "comm/hierarchical_plan.h"

#define DDP_SUM_COST_BYTES 1e8 /* bytes of the sum whose cost is computed */

/* Costs of a sum of DDP_SUM_COST_BYTES for the largest host, where the two algorithms differ. */
typedef struct ddp_sum_cost {
    double inter_host_bytes; /* bytes that the host sends to others; it receives as many */
    /* seconds of inter_host_bytes at 10 Gbit/s or of the polls of all chunks, whichever is more */
    double wire_s;
    double cpu_s;    /* seconds of CPU time of each of the host's ranks */
    int connections; /* connections to other hosts that each of the host's ranks has */
} ddp_sum_cost;

/* Return the cost of ddp_allreduce_direct among all ranks of these hosts. */
ddp_sum_cost ddp_direct_cost(const struct ddp_rank_hosts *hosts);
/* Return the cost of ddp_allreduce_hierarchical among all ranks of these hosts. radix: how many
 * hosts or blocks of hosts meet in a stage (comm/hierarchical_plan.h), at least 2. */
ddp_sum_cost ddp_hierarchical_cost(const struct ddp_rank_hosts *hosts, int radix);

/* Return 1 if the hierarchical algorithm takes less time than the direct one, else 0. Return 1,
 * too, if the direct one's `connections` are more than most_connections. */
int ddp_hierarchical_is_cheaper(const struct ddp_rank_hosts *hosts, int radix,
                                int most_connections);

/* Describe hierarchical sums in words. With " in shared memory" for `within`, text[0..size) becomes
 * "2 levels (4 ranks a host in shared memory, then 2 hosts)". A size of 128 suffices. radix: how
 * many hosts or blocks of hosts meet in a stage, at least 2. */
void ddp_hierarchical_describe(const struct ddp_rank_hosts *hosts, int radix, const char *within,
                               char *text, size_t size);

#endif
