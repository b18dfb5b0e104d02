/* ddp-test: quick tsan */
/* A group of several ranks, as threads of this process. */
#include "comm/collectives.h"
#include "comm/group.h"
#include "comm/work.h"

#include "../reference_sum.h"
#include "ranks.h"

#include <inttypes.h>
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

enum { MIB = 1 << 20, CHUNK = MIB / 2 / (int)sizeof(float) };

static const int world_sizes[] = {1, 2, 3, 4, 7, 8};

static void run_worlds(void (*body)(struct rank *me))
{
    for (size_t i = 0; i < sizeof world_sizes / sizeof world_sizes[0]; i++)
        ranks_run(world_sizes[i], body, NULL);
}

static float *new_values(const struct rank *me, int sum, size_t count)
{
    float *buf = malloc((count + 1) * sizeof *buf);

    if (!buf)
        abort();
    for (size_t i = 0; i < count; i++)
        buf[i] = reference_value(me->rank, sum, i);
    return buf;
}

static void expect_sum(struct rank *me, const float *buf, int sum, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float want = reference_sum(0, me->size, sum, i);

        if (!reference_same_bits(buf[i], want)) {
            rank_wrong(me, "sum %d of %zu: [%zu] is %.9g, not %.9g", sum, count, i, (double)buf[i],
                       (double)want);
            return;
        }
    }
}

static void one_sum(struct rank *me, size_t count)
{
    float *buf = new_values(me, 0, count);
    ddp_work *w;
    ddp_error err;

    rank_expect_ok(me, ddp_allreduce_open(&w, me->group, buf, count, &err), &err);
    rank_expect_ok(me, ddp_work_start(w, &err), &err);
    rank_expect_ok(me, ddp_work_wait(w, &err), &err);
    if (!ddp_work_done(w))
        rank_wrong(me, "a sum of %zu is not done after a wait for it", count);
    expect_sum(me, buf, 0, count);
    ddp_work_close(w);
    free(buf);
}

static void sums_of_many_sizes(struct rank *me)
{
    static const size_t counts[] = {
        0, 1, 15, 16, 17, 2341, 5000, CHUNK + 1, (size_t)2 * CHUNK, CHUNK - 1};
    size_t n = me->size < 4 ? 10 : 8; /* the reference takes its time */

    for (size_t i = 0; i < n; i++)
        one_sum(me, counts[i]);
}

static void sums_of_many_sizes_are_the_tree_to_the_bit(void **state)
{
    (void)state;
    run_worlds(sums_of_many_sizes);
}

static void sum_of_many_chunks(struct rank *me)
{
    one_sum(me, (me->size == 2 ? 35 : 20) * (size_t)CHUNK + 12345);
}

static void sum_of_more_chunks_than_fly_at_once(void **state)
{
    (void)state;
    ranks_run(2, sum_of_many_chunks, NULL);
    ranks_run(3, sum_of_many_chunks, NULL);
}

/* Ranks poll at places of their own, and wait in another order than they start. */
static void many_sums(struct rank *me)
{
    enum { SUMS = 12, ROUNDS = 2 };
    unsigned seed = 17U + (unsigned)me->rank;
    ddp_work *sums[SUMS];
    float *bufs[SUMS];
    size_t counts[SUMS];
    ddp_error err;

    for (int s = 0; s < SUMS; s++) {
        counts[s] = (size_t)s * 21011 % 30000 + (s == 5 ? CHUNK / 2 : 0);
        bufs[s] = new_values(me, s, counts[s]);
        rank_expect_ok(me, ddp_allreduce_open(&sums[s], me->group, bufs[s], counts[s], &err), &err);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int s = 0; s < SUMS; s++) {
            for (size_t i = 0; i < counts[s]; i++)
                bufs[s][i] = reference_value(me->rank, s, i);
            rank_expect_ok(me, ddp_work_start(sums[s], &err), &err);
            for (int polls = rand_r(&seed) % 5; polls > 0; polls--)
                rank_expect_ok(me, ddp_group_progress(me->group, &err), &err);
        }
        for (int s = SUMS - 1; s >= 0; s--) {
            rank_expect_ok(me, ddp_work_wait(sums[s], &err), &err);
            expect_sum(me, bufs[s], s, counts[s]);
        }
    }
    for (int s = 0; s < SUMS; s++) {
        ddp_work_close(sums[s]);
        free(bufs[s]);
    }
}

static void sums_in_flight_together_do_not_mix(void **state)
{
    (void)state;
    run_worlds(many_sums);
}

static void collectives_beside_a_sum(struct rank *me)
{
    size_t count = CHUNK + 3;
    float *buf = new_values(me, 3, count);
    int mine = me->rank, all[RANKS_MAX];
    ddp_work *w;
    ddp_error err;

    rank_expect_ok(me, ddp_allreduce_open(&w, me->group, buf, count, &err), &err);
    rank_expect_ok(me, ddp_work_start(w, &err), &err);
    rank_expect_ok(me, ddp_allgather(me->group, &mine, all, sizeof mine, &err), &err);
    rank_expect_ok(me, ddp_barrier(me->group, &err), &err);
    rank_expect_ok(me, ddp_work_wait(w, &err), &err);
    for (int r = 0; r < me->size; r++)
        if (all[r] != r)
            rank_wrong(me, "%d gathered from rank %d", all[r], r);
    expect_sum(me, buf, 3, count);
    ddp_work_close(w);
    free(buf);
}

static void collectives_run_beside_a_sum_in_flight(void **state)
{
    (void)state;
    run_worlds(collectives_beside_a_sum);
}

/* After so many bytes of a rank's they come again: ThreadSanitizer looks at each byte that a loop
 * touches, and at a copy of many at once. */
enum { PERIOD = 256 };

static unsigned char byte_of(int rank, size_t i)
{
    return (unsigned char)(i * 7 + (size_t)rank);
}

static void fill_as(unsigned char *buf, size_t bytes, int rank)
{
    size_t done = bytes < PERIOD ? bytes : PERIOD;

    for (size_t i = 0; i < done; i++)
        buf[i] = byte_of(rank, i);
    for (size_t more; done < bytes; done += more) {
        more = done < bytes - done ? done : bytes - done;
        memcpy(buf + done, buf, more);
    }
}

static void expect_from(struct rank *me, const unsigned char *buf, size_t bytes, int rank)
{
    for (size_t i = 0; i < bytes && i < PERIOD; i++)
        if (buf[i] != byte_of(rank, i))
            rank_wrong(me, "byte %zu of %zu from rank %d is wrong", i, bytes, rank);
    if (bytes > PERIOD && memcmp(buf, buf + PERIOD, bytes - PERIOD) != 0)
        rank_wrong(me, "a byte of %zu from rank %d is wrong", bytes, rank);
}

static void broadcast_from_each(struct rank *me)
{
    static const size_t sizes[] = {0, 1, 13, MIB, 3 * MIB + 7};
    unsigned char *buf = malloc(3 * MIB + 7);
    ddp_error err;

    if (!buf)
        abort();
    for (int root = 0; root < me->size; root++) {
        size_t bytes = sizes[(size_t)root % 5];

        fill_as(buf, bytes, me->rank);
        rank_expect_ok(me, ddp_broadcast(me->group, buf, bytes, root, &err), &err);
        expect_from(me, buf, bytes, root);
    }
    free(buf);
}

static void broadcast_reaches_every_rank_from_each(void **state)
{
    (void)state;
    run_worlds(broadcast_from_each);
}

/* From each to each, itself too; the others look on, and need not know how many bytes there are. */
static void transfer_between_all(struct rank *me)
{
    static const size_t sizes[] = {0, 1, 13, MIB, 3 * MIB + 7};
    unsigned char *buf = malloc(3 * MIB + 7);
    ddp_error err;

    if (!buf)
        abort();
    for (int k = 0; k < me->size * me->size; k++) {
        int from = k / me->size, to = k % me->size;
        size_t bytes = me->rank == from || me->rank == to ? sizes[k % 5] : (size_t)me->rank % 2;

        fill_as(buf, bytes, me->rank);
        rank_expect_ok(me, ddp_transfer(me->group, buf, bytes, from, to, &err), &err);
        expect_from(me, buf, bytes, me->rank == to ? from : me->rank);
    }
    free(buf);
}

static void transfer_reaches_one_rank_alone(void **state)
{
    (void)state;
    run_worlds(transfer_between_all);
}

/* To each, from each as much as its number says, from some nothing. */
static void gather_to_each(struct rank *me)
{
    static const size_t sizes[] = {13, 0, MIB, 1, 2 * MIB + 7};
    unsigned char *data = malloc((2 * MIB + 7) * RANKS_MAX);
    ddp_error err;

    if (!data)
        abort();
    for (int root = 0; root < me->size; root++) {
        size_t bytes[RANKS_MAX], before = 0;

        for (int r = 0; r < me->size; r++)
            bytes[r] = sizes[(r + root) % 5];
        for (int r = 0; r < me->rank && me->rank == root; r++)
            before += bytes[r];
        fill_as(data + before, bytes[me->rank], me->rank);
        rank_expect_ok(
            me,
            ddp_gather(me->group, data, me->rank == root ? bytes : &bytes[me->rank], root, &err),
            &err);
        for (size_t r = 0, at = 0; me->rank == root && r < (size_t)me->size; at += bytes[r++])
            expect_from(me, data + at, bytes[r], (int)r);
    }
    free(data);
}

static void gather_puts_ranks_in_order_on_one(void **state)
{
    (void)state;
    run_worlds(gather_to_each);
}

static void gather(struct rank *me)
{
    enum { BYTES = MIB + 9 };
    unsigned char *mine = malloc(BYTES), *all = malloc((size_t)BYTES * RANKS_MAX);
    ddp_error err;

    if (!mine || !all)
        abort();
    fill_as(mine, BYTES, me->rank);
    rank_expect_ok(me, ddp_allgather(me->group, mine, all, BYTES, &err), &err);
    for (int r = 0; r < me->size; r++)
        expect_from(me, all + (size_t)r * BYTES, BYTES, r);
    free(mine);
    free(all);
}

static void allgather_places_ranks_in_order(void **state)
{
    (void)state;
    run_worlds(gather);
}

static const size_t text_sizes[] = {1, 0, 2 * MIB + 7, 0, 5};

static size_t text_size(int rank, size_t first)
{
    return text_sizes[((size_t)rank + first) % 5];
}

static void expect_texts(struct rank *me, size_t first, const unsigned char *all, size_t total)
{
    size_t at = 0;

    for (int r = 0; r < me->size; at += text_size(r++, first))
        expect_from(me, all + at, text_size(r, first), r);
    if (total != at || !all || all[at] != 0)
        rank_wrong(me, "%zu bytes and a zero byte, not %zu", at, total);
}

/* Rank r gives the r-th of text_sizes, from the `first`. */
static void concatenate(struct rank *me)
{
    unsigned char *mine = malloc(2 * MIB + 7);

    if (!mine)
        abort();
    for (size_t first = 0; first < 5; first++) {
        size_t bytes = text_size(me->rank, first), total;
        void *all, *on_first;
        ddp_error err;

        fill_as(mine, bytes, me->rank);
        rank_expect_ok(me, ddp_concatenate(me->group, mine, bytes, &all, &total, &err), &err);
        expect_texts(me, first, all, total);
        rank_expect_ok(
            me, ddp_concatenate_on_first(me->group, mine, bytes, &on_first, &total, &err), &err);
        if (me->rank == 0)
            expect_texts(me, first, on_first, total);
        else if (on_first || total)
            rank_wrong(me, "%zu bytes on a rank that is not the first", total);
        free(all);
        free(on_first);
    }
    free(mine);
}

static void concatenate_puts_ranks_in_order_on_all_or_the_first(void **state)
{
    (void)state;
    run_worlds(concatenate);
}

static void fold(struct rank *me)
{
    uint64_t counts[] = {1, (uint64_t)me->rank, UINT64_C(1) << 40};
    int yes = 1, last = me->rank == me->size - 1, not_last = !last;
    ddp_error err;
    int *all = ddp_allgather_new(me->group, &me->rank, sizeof me->rank, &err);

    for (int r = 0; r < me->size; r++)
        if (!all || all[r] != r)
            rank_wrong(me, "no number of rank %d", r);
    free(all);
    rank_expect_ok(me, ddp_sum_counts(me->group, counts, 3, &err), &err);
    rank_expect_ok(me, ddp_sum_counts(me->group, NULL, 0, &err), &err);
    if (counts[0] != (uint64_t)me->size || counts[1] != counts[0] * (counts[0] - 1) / 2
        || counts[2] != counts[0] << 40)
        rank_wrong(me, "sums %" PRIu64 ", %" PRIu64 ", %" PRIu64, counts[0], counts[1], counts[2]);
    rank_expect_ok(me, ddp_holds_on_all(me->group, &yes, &err), &err);
    rank_expect_ok(me, ddp_holds_on_all(me->group, &last, &err), &err);
    rank_expect_ok(me, ddp_holds_on_all(me->group, &not_last, &err), &err);
    if (!yes || last != (me->size == 1) || not_last)
        rank_wrong(me, "on all ranks: %d, %d, %d", yes, last, not_last);
}

static void ranks_values_are_listed_summed_and_joined(void **state)
{
    (void)state;
    run_worlds(fold);
}

/* Of so many each tells only some, who pass it on. */
static void gather_from_many(struct rank *me)
{
    enum { BYTES = 40009 };
    unsigned char *mine = malloc(BYTES), *all = malloc((size_t)BYTES * (size_t)me->size);
    ddp_error err;

    if (!mine || !all)
        abort();
    fill_as(mine, BYTES, me->rank);
    rank_expect_ok(me, ddp_allgather(me->group, mine, all, BYTES, &err), &err);
    rank_expect_ok(me, ddp_barrier(me->group, &err), &err);
    for (int r = 0; r < me->size; r++)
        expect_from(me, all + (size_t)r * BYTES, BYTES, r);
    free(mine);
    free(all);
}

static void allgather_from_many_places_ranks_in_order(void **state)
{
    (void)state;
    ranks_run(33, gather_from_many, NULL);
    ranks_run(40, gather_from_many, NULL);
}

static atomic_int arrived;

static void pass_barriers(struct rank *me)
{
    ddp_error err;

    for (int i = 1; i <= 20; i++) {
        atomic_fetch_add(&arrived, 1);
        rank_expect_ok(me, ddp_barrier(me->group, &err), &err);
        if (atomic_load(&arrived) < i * me->size)
            rank_wrong(me, "barrier %d let this rank pass before all were there", i);
    }
}

static void barrier_waits_for_every_rank(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof world_sizes / sizeof world_sizes[0]; i++) {
        atomic_store(&arrived, 0);
        ranks_run(world_sizes[i], pass_barriers, NULL);
    }
    atomic_store(&arrived, 0);
    ranks_run(RANKS_MAX, pass_barriers, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_many_sizes_are_the_tree_to_the_bit),
        cmocka_unit_test(sum_of_more_chunks_than_fly_at_once),
        cmocka_unit_test(sums_in_flight_together_do_not_mix),
        cmocka_unit_test(collectives_run_beside_a_sum_in_flight),
        cmocka_unit_test(broadcast_reaches_every_rank_from_each),
        cmocka_unit_test(transfer_reaches_one_rank_alone),
        cmocka_unit_test(gather_puts_ranks_in_order_on_one),
        cmocka_unit_test(ranks_values_are_listed_summed_and_joined),
        cmocka_unit_test(concatenate_puts_ranks_in_order_on_all_or_the_first),
        cmocka_unit_test(allgather_places_ranks_in_order),
        cmocka_unit_test(allgather_from_many_places_ranks_in_order),
        cmocka_unit_test(barrier_waits_for_every_rank),
    };

    return cmocka_run_group_tests_name("group threads", tests, NULL, NULL);
}
