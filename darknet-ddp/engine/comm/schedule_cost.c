#include "comm/schedule_cost.h"

#include "comm/chunk_sizes.h"

#include <stdio.h>

/* Measured on virtual Xeon cores, Open MPI 4.1.4; a sum of 100 MB in buckets of 4 MiB, and
 * steps between two hosts at 4 Gbit/s. */
static const double sum_bytes = DDP_SUM_COST_BYTES, bucket_bytes = 4 << 20;
static const double tcp_byte_s = 0.35e-9;  /* to send or receive a byte */
static const double host_byte_s = 0.3e-9;  /* the same within a host */
static const double copy_byte_s = 0.1e-9;  /* to copy or add a byte */
static const double message_s = 5e-6;      /* to send or receive a message of any size */
static const double line_bytes_s = 1.25e9; /* 10 Gbit/s */
static const double poll_s = 1e-3;         /* between two polls of a rank that computes */

static double greater(double a, double b)
{
    return a > b ? a : b;
}

static int most_ranks(const struct ddp_rank_hosts *hosts)
{
    int most = 0;

    for (int h = 0; h < hosts->count; h++)
        if (hosts->first[h + 1] - hosts->first[h] > most)
            most = hosts->first[h + 1] - hosts->first[h];
    return most;
}

/* A bucket's end ends a chunk. */
static double chunk_bytes(ddp_chunks c)
{
    return (double)c.bytes < bucket_bytes ? (double)c.bytes : bucket_bytes;
}

/* A chunk takes so many polls, while a window of them is in flight. */
static double wire_s(double inter_host_bytes, ddp_chunks c, int polls)
{
    return greater(inter_host_bytes / line_bytes_s,
                   sum_bytes / (chunk_bytes(c) * c.window) * polls * poll_s);
}

ddp_sum_cost ddp_direct_cost(const struct ddp_rank_hosts *hosts)
{
    int size = hosts->first[hosts->count], ranks = most_ranks(hosts);
    ddp_chunks chunks = ddp_direct_chunks(size);
    double bytes = 2 * sum_bytes * (size - 1) / size; /* each way */
    double outside = bytes * (size - ranks) / (size > 1 ? size - 1 : 1);
    double messages = 4.0 * (size - 1) * sum_bytes / chunk_bytes(chunks);

    return (ddp_sum_cost){
        .inter_host_bytes = outside * ranks,
        .wire_s = wire_s(outside * ranks, chunks, 2),
        .cpu_s = 2 * outside * tcp_byte_s + 2 * (bytes - outside) * host_byte_s
                 + sum_bytes * copy_byte_s + messages * message_s,
        .connections = size - ranks,
    };
}

ddp_sum_cost ddp_hierarchical_cost(const struct ddp_rank_hosts *hosts, int radix)
{
    int size = hosts->first[hosts->count], ranks = most_ranks(hosts), stages = 0, peers = 0;
    ddp_chunks chunks = ddp_hierarchical_chunks(size, hosts->count);
    double left = 2 * sum_bytes * (hosts->count - 1) / hosts->count; /* of a host, each way */

    for (int blocks = hosts->count; blocks > 1; blocks = (blocks + radix - 1) / radix) {
        peers += (blocks < radix ? blocks : radix) - 1;
        stages++;
    }
    return (ddp_sum_cost){
        .inter_host_bytes = left,
        .wire_s = wire_s(left, chunks, 2 + 2 * stages),
        .cpu_s = 2 * left / ranks * tcp_byte_s + 2 * sum_bytes * copy_byte_s
                 + 4.0 * peers * sum_bytes / chunk_bytes(chunks) * message_s,
        .connections = peers,
    };
}

int ddp_hierarchical_is_cheaper(const struct ddp_rank_hosts *hosts, int radix, int most_connections)
{
    ddp_sum_cost direct = ddp_direct_cost(hosts),
                 hierarchical = ddp_hierarchical_cost(hosts, radix);

    if (direct.connections > most_connections)
        return 1;
    return greater(hierarchical.wire_s, hierarchical.cpu_s) < greater(direct.wire_s, direct.cpu_s);
}

void ddp_hierarchical_describe(const struct ddp_rank_hosts *hosts, int radix, const char *within,
                               char *text, size_t size)
{
    int stages = ddp_hierarchical_stages(hosts->count, radix), most = most_ranks(hosts),
        least = most;
    char ranks[32], then[32] = "";

    for (int h = 0; h < hosts->count; h++)
        if (hosts->first[h + 1] - hosts->first[h] < least)
            least = hosts->first[h + 1] - hosts->first[h];
    (void)snprintf(ranks, sizeof ranks, most > least ? "%d to %d" : "%d", least, most);
    if (stages)
        (void)snprintf(then, sizeof then, ", then %d hosts%s", hosts->count,
                       stages > 1 ? " in blocks" : "");
    (void)snprintf(text, size, "%d level%s (%s rank%s a host%s%s)", stages + 1, stages ? "s" : "",
                   ranks, most > 1 ? "s" : "", within, then);
}
