/* comm/schedule_cost.h: which algorithm for host memory (comm/chunk.h) suits which hosts, by a
 * model of what it costs. */
#ifndef DDP_COMM_SCHEDULE_COST_H
#define DDP_COMM_SCHEDULE_COST_H

#include "comm/hierarchical_plan.h"

#define DDP_SUM_COST_BYTES 1e8

/* Costs of a sum of DDP_SUM_COST_BYTES for the slowest rank. A cost that all algorithms have is
 * left out. */
typedef struct ddp_sum_cost {
    double inter_host_bytes; /* bytes that a host sends to others; it receives as many */
    /* seconds for these bytes at 10 Gbit/s or, if longer, for the polls that chunks wait for */
    double wire_s;
    double cpu_s;    /* seconds of a rank's CPU time */
    int connections; /* a rank's connections to other hosts */
} ddp_sum_cost;

/* Return the costs of ddp_allreduce_direct among the ranks of these hosts. */
ddp_sum_cost ddp_direct_cost(const struct ddp_rank_hosts *hosts);
/* Return the costs of ddp_allreduce_hierarchical among the ranks of these hosts. radix: how many
 * hosts or blocks of hosts meet in a stage, at least 2. */
ddp_sum_cost ddp_hierarchical_cost(const struct ddp_rank_hosts *hosts, int radix);

/* Return 1 if the hierarchical algorithm costs less time than the direct one, or if the direct one
 * needs more than most_connections connections of a rank. */
int ddp_hierarchical_is_cheaper(const struct ddp_rank_hosts *hosts, int radix,
                                int most_connections);

/* Write to text how the hierarchical algorithm sums: "2 levels (4 ranks a host WITHIN, then 2
 * hosts)", with `within` for WITHIN. size: bytes of text; 128 suffice. */
void ddp_hierarchical_describe(const struct ddp_rank_hosts *hosts, int radix, const char *within,
                               char *text, size_t size);

#endif
