/* A group of several ranks, as threads of this process. */
#include "comm/group.h"

#include "../reference_sum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

#include "../ranks.h"

enum { MIB = 1 << 20, CHUNK = MIB / 2 / (int)sizeof(float) };

static const int world_sizes[] = {1, 2, 3, 4, 7, 8};

static void run_worlds(int (*body)(ddp_group *g))
{
    for (size_t i = 0; i < sizeof world_sizes / sizeof world_sizes[0]; i++)
        run_ranks(world_sizes[i], body);
}

static float *new_values(const ddp_group *g, int sum, size_t count)
{
    float *buf = malloc((count + 1) * sizeof *buf);

    if (!buf)
        abort();
    for (size_t i = 0; i < count; i++)
        buf[i] = reference_value(ddp_group_rank(g), sum, i);
    return buf;
}

static int wrong_bits(const ddp_group *g, const float *buf, int sum, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float want = reference_sum(0, ddp_group_size(g), sum, i);

        if (!reference_same_bits(buf[i], want)) {
            (void)fprintf(stderr, "rank %d of %d, sum %d of %zu: [%zu] is %.9g, not %.9g\n",
                          ddp_group_rank(g), ddp_group_size(g), sum, count, i, (double)buf[i],
                          (double)want);
            return 1;
        }
    }
    return 0;
}

static int one_sum(ddp_group *g, size_t count)
{
    float *buf = new_values(g, 0, count);
    ddp_allreduce *a;
    ddp_error err;
    int bad;

    bad = failed(g, ddp_allreduce_open(&a, g, buf, count, &err), &err);
    bad += failed(g, ddp_allreduce_start(a, &err), &err);
    bad += failed(g, ddp_allreduce_wait(a, &err), &err);
    bad += !ddp_allreduce_done(a);
    bad += wrong_bits(g, buf, 0, count);
    ddp_allreduce_close(a);
    free(buf);
    return bad;
}

static int sums_of_many_sizes(ddp_group *g)
{
    static const size_t counts[] = {
        0, 1, 15, 16, 17, 2341, 5000, CHUNK + 1, (size_t)2 * CHUNK, CHUNK - 1};
    size_t n = ddp_group_size(g) < 4 ? 10 : 8; /* the reference takes its time */
    int bad = 0;

    for (size_t i = 0; i < n; i++)
        bad += one_sum(g, counts[i]);
    return bad;
}

static void sums_of_many_sizes_are_the_tree_to_the_bit(void **state)
{
    (void)state;
    run_worlds(sums_of_many_sizes);
}

static int sum_of_many_chunks(ddp_group *g)
{
    return one_sum(g, (ddp_group_size(g) == 2 ? 35 : 20) * (size_t)CHUNK + 12345);
}

static void sum_of_more_chunks_than_fly_at_once(void **state)
{
    (void)state;
    run_ranks(2, sum_of_many_chunks);
    run_ranks(3, sum_of_many_chunks);
}

/* Ranks poll at places of their own, and wait in another order than they start. */
static int many_sums(ddp_group *g)
{
    enum { SUMS = 12, ROUNDS = 2 };
    unsigned seed = 17U + (unsigned)ddp_group_rank(g);
    ddp_allreduce *sums[SUMS];
    float *bufs[SUMS];
    size_t counts[SUMS];
    ddp_error err;
    int bad = 0;

    for (int s = 0; s < SUMS; s++) {
        counts[s] = (size_t)s * 21011 % 30000 + (s == 5 ? CHUNK / 2 : 0);
        bufs[s] = new_values(g, s, counts[s]);
        bad += failed(g, ddp_allreduce_open(&sums[s], g, bufs[s], counts[s], &err), &err);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int s = 0; s < SUMS; s++) {
            for (size_t i = 0; i < counts[s]; i++)
                bufs[s][i] = reference_value(ddp_group_rank(g), s, i);
            bad += failed(g, ddp_allreduce_start(sums[s], &err), &err);
            for (int polls = rand_r(&seed) % 5; polls > 0; polls--)
                bad += failed(g, ddp_group_progress(g, &err), &err);
        }
        for (int s = SUMS - 1; s >= 0; s--) {
            bad += failed(g, ddp_allreduce_wait(sums[s], &err), &err);
            bad += wrong_bits(g, bufs[s], s, counts[s]);
        }
    }
    for (int s = 0; s < SUMS; s++) {
        ddp_allreduce_close(sums[s]);
        free(bufs[s]);
    }
    return bad;
}

static void sums_in_flight_together_do_not_mix(void **state)
{
    (void)state;
    run_worlds(many_sums);
}

static int collectives_beside_a_sum(ddp_group *g)
{
    size_t count = CHUNK + 3;
    float *buf = new_values(g, 3, count);
    int mine = ddp_group_rank(g), all[MAX_RANKS], bad;
    ddp_allreduce *a;
    ddp_error err;

    bad = failed(g, ddp_allreduce_open(&a, g, buf, count, &err), &err);
    bad += failed(g, ddp_allreduce_start(a, &err), &err);
    bad += failed(g, ddp_allgather(g, &mine, all, sizeof mine, &err), &err);
    bad += failed(g, ddp_barrier(g, &err), &err);
    bad += failed(g, ddp_allreduce_wait(a, &err), &err);
    for (int r = 0; r < ddp_group_size(g); r++)
        bad += all[r] != r;
    bad += wrong_bits(g, buf, 3, count);
    ddp_allreduce_close(a);
    free(buf);
    return bad;
}

static void collectives_run_beside_a_sum_in_flight(void **state)
{
    (void)state;
    run_worlds(collectives_beside_a_sum);
}

static int broadcast_from_each(ddp_group *g)
{
    static const size_t sizes[] = {0, 1, 13, MIB, 3 * MIB + 7};
    unsigned char *buf = malloc(3 * MIB + 7);
    ddp_error err;
    int bad = 0;

    if (!buf)
        abort();
    for (int root = 0; root < ddp_group_size(g); root++) {
        size_t bytes = sizes[(size_t)root % 5];

        for (size_t i = 0; i < bytes; i++)
            buf[i] = (unsigned char)(i * 7 + (size_t)ddp_group_rank(g));
        bad += failed(g, ddp_broadcast(g, buf, bytes, root, &err), &err);
        for (size_t i = 0; i < bytes; i++)
            bad += buf[i] != (unsigned char)(i * 7 + (size_t)root);
    }
    free(buf);
    return bad;
}

static void broadcast_reaches_every_rank_from_each(void **state)
{
    (void)state;
    run_worlds(broadcast_from_each);
}

static int gather(ddp_group *g)
{
    enum { BYTES = MIB + 9 };
    unsigned char *mine = malloc(BYTES), *all = malloc((size_t)BYTES * MAX_RANKS);
    ddp_error err;
    int bad = 0;

    if (!mine || !all)
        abort();
    for (int i = 0; i < BYTES; i++)
        mine[i] = (unsigned char)(i * 3 + ddp_group_rank(g));
    bad += failed(g, ddp_allgather(g, mine, all, BYTES, &err), &err);
    for (int r = 0; r < ddp_group_size(g); r++)
        for (int i = 0; i < BYTES; i++)
            bad += all[r * BYTES + i] != (unsigned char)(i * 3 + r);
    free(mine);
    free(all);
    return bad;
}

static void allgather_places_ranks_in_order(void **state)
{
    (void)state;
    run_worlds(gather);
}

static atomic_int arrived;

static int pass_barriers(ddp_group *g)
{
    ddp_error err;
    int bad = 0;

    for (int i = 1; i <= 20; i++) {
        atomic_fetch_add(&arrived, 1);
        bad += failed(g, ddp_barrier(g, &err), &err);
        bad += atomic_load(&arrived) < i * ddp_group_size(g);
    }
    return bad;
}

static void barrier_waits_for_every_rank(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof world_sizes / sizeof world_sizes[0]; i++) {
        atomic_store(&arrived, 0);
        run_ranks(world_sizes[i], pass_barriers);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_many_sizes_are_the_tree_to_the_bit),
        cmocka_unit_test(sum_of_more_chunks_than_fly_at_once),
        cmocka_unit_test(sums_in_flight_together_do_not_mix),
        cmocka_unit_test(collectives_run_beside_a_sum_in_flight),
        cmocka_unit_test(broadcast_reaches_every_rank_from_each),
        cmocka_unit_test(allgather_places_ranks_in_order),
        cmocka_unit_test(barrier_waits_for_every_rank),
    };

    return cmocka_run_group_tests_name("group threads", tests, NULL, NULL);
}
