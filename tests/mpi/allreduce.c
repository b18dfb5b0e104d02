/* The process group on real ranks, of the backend that is named: sums and all-gathers to the bit,
 * collectives, places.
 *
 * A rank counts what is wrong; the counts are gathered and all ranks fail
 * together, since one that stops between two collectives hangs the others. */
#include "comm/collectives.h"
#include "comm/group.h"
#include "comm/group_schedule.h"
#include "comm/work.h"

#include "../reference_sum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUMS = 11, MAX_RANKS = 64, MIB = 1 << 20, CHUNK = MIB / 8 };

static int failed(const ddp_group *g, ddp_status st, const ddp_error *err)
{
    if (st)
        (void)fprintf(stderr, "rank %d: %s\n", ddp_group_rank(g), err->text);
    return st != DDP_OK;
}

/* How each sum travels. */
static ddp_wire wire_of(int sum)
{
    static const ddp_wire wires[] = {DDP_WIRE_FP32, DDP_WIRE_BF16, DDP_WIRE_FP16};

    return wires[sum % 3];
}

static int wrong_bits(const ddp_group *g, const float *buf, int sum, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float want = ddp_group_size(g) == 1 /* nothing travels, nothing is rounded */
                         ? reference_value_on(wire_of(sum), 0, sum, i)
                         : reference_sum_on(wire_of(sum), 0, ddp_group_size(g), sum, i);

        if (!reference_same_bits(buf[i], want)) {
            (void)fprintf(stderr, "rank %d: sum %d of %zu: [%zu] is %.9g, not %.9g\n",
                          ddp_group_rank(g), sum, count, i, (double)buf[i], (double)want);
            return 1;
        }
    }
    return 0;
}

static int start_all(ddp_group *g, ddp_work **sums, float **bufs, const size_t *counts)
{
    ddp_error err;
    int bad = 0;

    for (int s = 0; s < SUMS; s++) {
        for (size_t i = 0; i < counts[s]; i++)
            bufs[s][i] = reference_value_on(wire_of(s), ddp_group_rank(g), s, i);
        bad += failed(g, ddp_work_start(sums[s], &err), &err);
        for (int polls = (s + ddp_group_rank(g)) % 3; polls > 0; polls--)
            bad += failed(g, ddp_group_progress(g, &err), &err);
    }
    return bad;
}

static int sums_are_the_tree_to_the_bit(ddp_group *g)
{
    static const size_t counts[SUMS] = {
        0, 1, 15, 16, 17, 5000, CHUNK - 1, CHUNK + 1, CHUNK, (size_t)3 * CHUNK, 100003};
    ddp_work *sums[SUMS];
    float *bufs[SUMS];
    ddp_error err;
    int bad = 0;

    for (int s = 0; s < SUMS; s++) {
        bufs[s] = malloc((counts[s] + 1) * sizeof(float));
        if (!bufs[s])
            abort();
        bad += failed(g,
                      ddp_allreduce_open_on(&sums[s], g, ddp_device_host(), bufs[s], counts[s],
                                            wire_of(s), &err),
                      &err);
    }
    for (int round = 0; round < 2; round++) {
        bad += start_all(g, sums, bufs, counts);
        for (int s = SUMS - 1; s >= 0; s--) {
            bad += failed(g, ddp_work_wait(sums[s], &err), &err);
            bad += wrong_bits(g, bufs[s], s, counts[s]);
        }
    }
    for (int s = 0; s < SUMS; s++) {
        ddp_work_close(sums[s]);
        free(bufs[s]);
    }
    return bad;
}

static int wrong_parts(const ddp_group *g, const float *all, int gather, size_t count)
{
    for (int r = 0; r < ddp_group_size(g); r++)
        for (size_t i = 0; i < count; i++) {
            float got = all[(size_t)r * count + i], want = reference_value(r, gather, i);

            if (!reference_same_bits(got, want)) {
                (void)fprintf(stderr, "rank %d: %zu of rank %d: [%zu] is %.9g, not %.9g\n",
                              ddp_group_rank(g), count, r, i, (double)got, (double)want);
                return 1;
            }
        }
    return 0;
}

/* All in flight together, twice. */
static int every_rank_gets_every_part(ddp_group *g)
{
    enum { GATHERS = 6 };
    static const size_t counts[GATHERS] = {0, 1, 17, CHUNK / 2 + 1, 5000, CHUNK};
    size_t size = (size_t)ddp_group_size(g), rank = (size_t)ddp_group_rank(g);
    ddp_work *gathers[GATHERS];
    float *all[GATHERS];
    ddp_error err;
    int bad = 0;

    for (int k = 0; k < GATHERS; k++) {
        all[k] = malloc((size * counts[k] + 1) * sizeof(float));
        if (!all[k])
            abort();
        bad += failed(
            g, ddp_allgather_open(&gathers[k], g, ddp_device_host(), all[k], counts[k], &err),
            &err);
    }
    for (int round = 0; round < 2; round++) {
        for (int k = 0; k < GATHERS; k++) {
            memset(all[k], 0x55, size * counts[k] * sizeof(float));
            for (size_t i = 0; i < counts[k]; i++)
                all[k][rank * counts[k] + i] = reference_value((int)rank, k, i);
            bad += failed(g, ddp_work_start(gathers[k], &err), &err);
        }
        for (int k = GATHERS - 1; k >= 0; k--) {
            bad += failed(g, ddp_work_wait(gathers[k], &err), &err);
            bad += wrong_parts(g, all[k], k, counts[k]);
        }
    }
    for (int k = 0; k < GATHERS; k++) {
        ddp_work_close(gathers[k]);
        free(all[k]);
    }
    return bad;
}

static int broadcast_reaches_every_rank_from_each(ddp_group *g)
{
    enum { BYTES = 2 * MIB + 7 };
    unsigned char *buf = malloc(BYTES);
    ddp_error err;
    int bad = 0;

    if (!buf)
        abort();
    for (int root = 0; root < ddp_group_size(g); root++) {
        for (int i = 0; i < BYTES; i++)
            buf[i] = (unsigned char)(i * 7 + ddp_group_rank(g));
        bad += failed(g, ddp_broadcast(g, buf, BYTES, root, &err), &err);
        for (int i = 0; i < BYTES; i++)
            bad += buf[i] != (unsigned char)(i * 7 + root);
    }
    free(buf);
    return bad;
}

static int places_are_those_of_one_host(ddp_group *g)
{
    int mine = ddp_group_local_rank(g), all[MAX_RANKS], bad;
    ddp_error err;

    bad = failed(g, ddp_allgather(g, &mine, all, sizeof mine, &err), &err);
    bad += failed(g, ddp_barrier(g, &err), &err);
    for (int r = 0; r < ddp_group_size(g); r++)
        bad += all[r] != r || strcmp(ddp_group_host(g, r), ddp_group_host(g, 0)) != 0;
    bad += ddp_group_local_size(g) != ddp_group_size(g);
    return bad;
}

static int total(ddp_group *g, int bad)
{
    uint64_t sum = (uint64_t)bad;
    ddp_error err;

    return failed(g, ddp_sum_counts(g, &sum, 1, &err), &err) ? 1 : (int)sum;
}

/* Each of them has carried something. */
static int channels_take_turns(const ddp_group *g, int channels)
{
    ddp_traffic sent = ddp_group_traffic(g);
    int bad = ddp_group_channels(g) != (ddp_group_size(g) > 1 ? channels : 1);

    for (int c = 0; c < DDP_CHANNELS_MAX; c++)
        bad += (sent.channel_bytes[c] > 0) != (ddp_group_size(g) > 1 && c < channels);
    if (bad)
        (void)fprintf(stderr, "rank %d: not %d channels\n", ddp_group_rank(g), channels);
    return bad;
}

/* Usage: allreduce [BACKEND [CHANNELS]] */
int main(int argc, char **argv)
{
    const char *backend = argc > 1 ? argv[1] : "mpi";
    int channels = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1;
    ddp_error err;
    ddp_group *g;
    int bad;

    if (!ddp_group_has(backend)) {
        (void)fprintf(stderr, "this build has no %s\n", backend);
        return 77;
    }
    if (ddp_group_open(&g, backend, &err)) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    ddp_group_set_timeout(g, 120 * INT64_C(1000000000));
    bad = failed(g, ddp_group_use_channels(g, channels, &err), &err);
    bad += sums_are_the_tree_to_the_bit(g);
    bad += every_rank_gets_every_part(g);
    bad += failed(g, ddp_group_use_schedule(g, DDP_SCHEDULE_HIERARCHICAL, &err), &err);
    bad += sums_are_the_tree_to_the_bit(g);
    bad += every_rank_gets_every_part(g);
    bad += failed(g, ddp_group_use_schedule(g, DDP_SCHEDULE_DIRECT, &err), &err);
    bad += sums_are_the_tree_to_the_bit(g);
    bad += channels_take_turns(g, channels);
    bad += broadcast_reaches_every_rank_from_each(g);
    bad += places_are_those_of_one_host(g);
    bad = total(g, bad);
    ddp_group_close(g);
    return bad != 0;
}
