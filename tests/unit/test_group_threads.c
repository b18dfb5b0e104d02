/* A group of several ranks, as threads of this process.
 *
 * A rank never asserts: it counts what is wrong and says the first, and goes on,
 * since one that stops between two collectives hangs the others. */
#include "comm/group.h"

#include "../reference_sum.h"

#include <pthread.h>
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

enum { MAX_RANKS = 8, MIB = 1 << 20, CHUNK = MIB / 2 / (int)sizeof(float) };

static const int world_sizes[] = {1, 2, 3, 4, 7, 8};

struct rank {
    ddp_group *group;
    int (*body)(ddp_group *g); /* returns how much is wrong */
    int bad;
    pthread_t thread;
};

static void *run_rank(void *arg)
{
    struct rank *r = arg;

    r->bad = r->body(r->group);
    return NULL;
}

static void run_ranks(int size, int (*body)(ddp_group *g))
{
    ddp_group *groups[MAX_RANKS];
    struct rank ranks[MAX_RANKS];
    ddp_error err;
    int bad = 0;

    assert_int_equal(ddp_group_open_threads(groups, size, &err), DDP_OK);
    for (int r = 0; r < size; r++) {
        ranks[r] = (struct rank){.group = groups[r], .body = body};
        assert_int_equal(pthread_create(&ranks[r].thread, NULL, run_rank, &ranks[r]), 0);
    }
    for (int r = 0; r < size; r++) {
        assert_int_equal(pthread_join(ranks[r].thread, NULL), 0);
        bad += ranks[r].bad;
    }
    for (int r = 0; r < size; r++)
        ddp_group_close(groups[r]);
    if (bad)
        fail_msg("%d ranks: %d wrong", size, bad);
}

static void run_worlds(int (*body)(ddp_group *g))
{
    for (size_t i = 0; i < sizeof world_sizes / sizeof world_sizes[0]; i++)
        run_ranks(world_sizes[i], body);
}

static int failed(const ddp_group *g, ddp_status st, const ddp_error *err)
{
    if (st)
        (void)fprintf(stderr, "rank %d: %s\n", ddp_group_rank(g), err->text);
    return st != DDP_OK;
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

/* Does err say `before`, the host of rank 2, `after`? */
static int says(const ddp_group *g, const ddp_error *err, const char *before, const char *after)
{
    char want[sizeof err->text];

    (void)snprintf(want, sizeof want, "%s%s%s", before, ddp_group_host(g, 2), after);
    if (err->code == DDP_ERR_COMM && strcmp(want, err->text) == 0)
        return 1;
    (void)fprintf(stderr, "'%s', not '%s'\n", err->text, want);
    return 0;
}

static int late_sum(ddp_group *g)
{
    float *buf = new_values(g, 0, CHUNK);
    ddp_allreduce *first, *second;
    ddp_error err;
    int bad;

    ddp_group_set_timeout(g, 200000000);
    bad = failed(g, ddp_allreduce_open(&first, g, buf, 100, &err), &err);
    bad += failed(g, ddp_allreduce_open(&second, g, buf + 100, CHUNK - 100, &err), &err);
    bad += failed(g, ddp_allreduce_start(first, &err), &err);
    bad += failed(g, ddp_allreduce_wait(first, &err), &err);
    if (ddp_group_rank(g) != 2) {
        bad += failed(g, ddp_allreduce_start(second, &err), &err);
        bad += ddp_allreduce_wait(second, &err) != DDP_ERR_COMM;
        bad += !says(g, &err, "no message from rank 2 (host ", ") for 0.2 s, sum 2 of 2");
        bad += ddp_barrier(g, &err) != DDP_ERR_COMM;
        bad += !says(g, &err, "the group failed earlier: no message from rank 2 (host ",
                     ") for 0.2 s, sum 2 of 2");
    }
    ddp_allreduce_close(first);
    ddp_allreduce_close(second);
    free(buf);
    return bad;
}

static void timeout_of_a_sum_names_the_late_rank(void **state)
{
    (void)state;
    run_ranks(3, late_sum);
    run_ranks(7, late_sum);
}

static int late_barrier(ddp_group *g)
{
    ddp_error err;
    int bad = 0;

    ddp_group_set_timeout(g, 200000000);
    if (ddp_group_rank(g) != 2) {
        bad += ddp_barrier(g, &err) != DDP_ERR_COMM;
        bad += !says(g, &err, "barrier: no message from rank 2 (host ", ") for 0.2 s");
    }
    return bad;
}

static void timeout_of_a_barrier_names_the_late_rank(void **state)
{
    (void)state;
    run_ranks(4, late_barrier);
}

static int unequal_sums(ddp_group *g)
{
    static float bufs[MAX_RANKS][8]; /* outlive the threads, like a failed send */
    float *buf = bufs[ddp_group_rank(g)];
    size_t count = ddp_group_rank(g) == 2 ? 8 : 7;
    ddp_allreduce *a;
    ddp_error err;
    int bad;

    ddp_group_set_timeout(g, 500000000);
    bad = failed(g, ddp_allreduce_open(&a, g, buf, count, &err), &err);
    bad += failed(g, ddp_allreduce_start(a, &err), &err);
    bad += ddp_allreduce_wait(a, &err) != DDP_ERR_COMM;
    if (ddp_group_rank(g) != 2 && strcmp(err.text, "rank 2 sent 32 bytes where 28 are due") != 0)
        bad += !says(g, &err, "no message from rank 2 (host ", ") for 0.5 s, sum 1 of 1");
    ddp_allreduce_close(a);
    return bad;
}

static void sums_of_unequal_length_fail(void **state)
{
    (void)state;
    run_ranks(3, unequal_sums);
}

static int abort_while_others_wait(ddp_group *g)
{
    ddp_error err;

    if (ddp_group_rank(g) == 1) {
        ddp_group_abort(g, 9);
        return 0;
    }
    return ddp_barrier(g, &err) != DDP_ERR_COMM
           || strcmp(err.text, "barrier: rank 1 aborted with status 9") != 0;
}

static void abort_ends_the_others_waits(void **state)
{
    (void)state;
    run_ranks(3, abort_while_others_wait);
}

static int start_twice(ddp_group *g)
{
    float buf[2] = {1, 2};
    ddp_allreduce *a;
    ddp_error err;
    int bad;

    bad = failed(g, ddp_allreduce_open(&a, g, buf, 2, &err), &err);
    bad += failed(g, ddp_allreduce_start(a, &err), &err);
    bad += ddp_allreduce_start(a, &err) != DDP_ERR_USAGE;
    bad += strcmp(err.text, "sum 1 is in flight already") != 0;
    bad += failed(g, ddp_allreduce_wait(a, &err), &err);
    bad += buf[0] != 2 || buf[1] != 4;
    ddp_allreduce_close(a);
    return bad;
}

static void start_refuses_a_sum_in_flight(void **state)
{
    (void)state;
    run_ranks(2, start_twice);
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
        cmocka_unit_test(timeout_of_a_sum_names_the_late_rank),
        cmocka_unit_test(timeout_of_a_barrier_names_the_late_rank),
        cmocka_unit_test(sums_of_unequal_length_fail),
        cmocka_unit_test(abort_ends_the_others_waits),
        cmocka_unit_test(start_refuses_a_sum_in_flight),
    };

    return cmocka_run_group_tests_name("group threads", tests, NULL, NULL);
}
