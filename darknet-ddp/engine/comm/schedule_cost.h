/* comm/schedule_cost.h: which algorithm for host memory (comm/chunk.h) suits which hosts, by a
 * model of what it costs. */
#ifndef DDP_COMM_SCHEDULE_COST_H
#define DDP_COMM_SCHEDULE_COST_H

#include "comm/hierarchical_plan.h"

#define DDP_SUM_COST_BYTES 1e8

/* The costs of a sum of DDP_SUM_COST_BYTES for the slowest rank, as far as the algorithms differ.
 */
typedef struct ddp_sum_cost {
    double inter_host_bytes; /* sent by a host to others; it gets as many */
    double wire_s;   /* seconds in which they travel at 10 Gbit/s, or chunks wait for polls */
    double cpu_s;    /* CPU time of a rank */
    int connections; /* from a rank to other hosts */
} ddp_sum_cost;

ddp_sum_cost ddp_direct_cost(const struct ddp_rank_hosts *hosts);
ddp_sum_cost ddp_hierarchical_cost(const struct ddp_rank_hosts *hosts, int radix);

/* Return 1 if the hierarchical way is cheaper than the direct one, or if the direct one needs more
 * connections than a process may have open. */
int ddp_hierarchical_is_cheaper(const struct ddp_rank_hosts *hosts, int radix,
                                int most_connections);

/* Write "2 levels (4 ranks a host WITHIN, then 2 hosts)" for people. size: of text; 128 do. */
void ddp_hierarchical_describe(const struct ddp_rank_hosts *hosts, int radix, const char *within,
                               char *text, size_t size);

#endif
