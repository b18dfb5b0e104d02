/* ddp-test: quick tsan */
/* Tests of PowerSGD (powersgd.c) on 2 to 4 ranks: sums are as defined (powersgd_net.h), a dropped
 * step changes nothing, Q begins orthonormal, and a checkpoint restores Q and what was not sent. */
#include "algorithms/powersgd/matrix.h"
#include "algorithms/powersgd/tests/powersgd_net.h"
#include "unit/compressed_checks.h"
#include "unit/numbers.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static const struct compressed_net *const net = &compressed_powersgd;

static void *room(size_t count, size_t bytes)
{
    void *x = calloc(count, bytes);

    assert_non_null(x);
    return x;
}

static void it_is_its_definition(void **state)
{
    (void)state;
    compressed_is_its_definition(net);
}

static void steps_that_are_dropped_leave_nothing(void **state)
{
    (void)state;
    compressed_drops_leave_nothing(net);
}

/* ---- Q ---- */

static void open_on_rank_0(struct rank *me)
{
    struct compressed *c = me->shared;

    if (me->rank == 0)
        (void)compressed_open(c, net, ddp_device_host(), me);
}

static void q_begins_orthonormal(void **state)
{
    struct compressed c;

    (void)state;
    ranks_run(2, open_on_rank_0, &c); /* one that is alone keeps nothing */
    for (size_t p = 0; p < net->params; p++) {
        const float *q = compressed_memory(&c, p).q;
        size_t columns = net->shapes[p].columns;
        double products[3] = {0};

        assert_int_equal(q != NULL, net->shapes[p].is_compressed);
        for (size_t j = 0; q && j < columns; j++) {
            double a = (double)q[j], b = (double)q[columns + j];

            products[0] += a * a;
            products[1] += a * b;
            products[2] += b * b;
        }
        if (q) {
            assert_near(products[0], 1, 1e-6);
            assert_near(products[2], 1, 1e-6);
            assert_near(products[1], 0, 1e-6);
        }
    }
    compressed_close(&c);
}

static void a_column_that_is_lost_is_drawn_again(void **state)
{
    const float drawn[9] = {9, 9, 9, 0, 3, 4, 9, 9, 9};
    float q[9] = {2, 0, 0, -6, 0, 0, 0, 0, 5};

    (void)state;
    ddp_matrix_renew_q(q, drawn, (ddp_shape){.rows = 7, .columns = 3, .rank = 3});
    for (size_t i = 0; i < 9; i++) {
        /* of (0, 3, 4), which becomes (0, .6, .8), (0, 0, 1) keeps (0, -.8, .6) */
        static const double want[9] = {1, 0, 0, 0, .6, .8, 0, -.8, .6};

        assert_near((double)q[i], want[i], 1e-6);
    }
}

/* ---- what a checkpoint has ---- */

enum { SAVED = 3 }; /* the parameter that is looked at */

struct saved {
    float *errors; /* [rank][element] */
    int ranks;
    float q[2 * 100];
};

static float *gathered_error(const struct compressed *c, int rank)
{
    return ddp_state_gathered_array(c->state, (size_t)compressed_array(c, DDP_STATE_OF_RANK), rank,
                                    SAVED);
}

static void gather(struct rank *me)
{
    struct saved *saved = me->shared;
    size_t count = compressed_count(net, SAVED);
    struct compressed c;
    struct compressed_memory memory;
    ddp_error err;

    if (!compressed_open(&c, net, ddp_device_host(), me))
        return;
    memory = compressed_memory(&c, SAVED);
    for (size_t i = 0; i < count; i++)
        memory.error[i] = (float)(i % 7) + 100.0F * (float)me->rank;
    memory.error[0] = -0.0F;
    memory.q[5] = 42;
    for (int twice = 0; twice < 2; twice++)
        rank_expect_ok(me, ddp_state_gather(c.state, me->group, &err), &err);
    if (me->rank == 0) {
        saved->ranks = ddp_state_gathered_ranks(c.state);
        for (int r = 0; r < saved->ranks; r++)
            memcpy(saved->errors + (size_t)r * count, gathered_error(&c, r), count * sizeof(float));
        memcpy(saved->q, memory.q, sizeof saved->q);
    }
    rank_meet(me);
    compressed_close(&c);
}

static void expect_errors(struct rank *me, const struct saved *saved, int from, const float *errors)
{
    size_t count = compressed_count(net, SAVED);

    for (size_t i = 0; i < count; i++) {
        float want = me->rank < from ? saved->errors[(size_t)me->rank * count + i] : 0;

        for (int r = me->rank + me->size; r < from; r += me->size)
            want += saved->errors[(size_t)r * count + i];
        if (memcmp(&want, &errors[i], sizeof want) != 0) {
            rank_wrong(me, "error [%zu] is %g, not %g", i, (double)errors[i], (double)want);
            return;
        }
    }
}

static void scatter(struct rank *me)
{
    struct saved *saved = me->shared;
    size_t count = compressed_count(net, SAVED);
    struct compressed c;
    struct compressed_memory memory;
    ddp_error err;

    if (!compressed_open(&c, net, ddp_device_host(), me))
        return;
    memory = compressed_memory(&c, SAVED);
    if (me->rank == 0) {
        rank_expect_ok(me, ddp_state_reserve(c.state, saved->ranks, &err), &err);
        for (int r = 0; r < saved->ranks; r++)
            memcpy(gathered_error(&c, r), saved->errors + (size_t)r * count, count * sizeof(float));
        memcpy(memory.q, saved->q, sizeof saved->q);
    }
    rank_expect_ok(me, ddp_state_share(c.state, me->group, 0, &err), &err);
    expect_errors(me, saved, saved->ranks, memory.error);
    if (memcmp(saved->q, memory.q, sizeof saved->q) != 0)
        rank_wrong(me, "another Q");
    rank_meet(me);
    compressed_close(&c);
}

static void errors_of_all_ranks_come_back_and_are_added_up_on_fewer(void **state)
{
    struct saved saved = {.errors =
                              room(COMPRESSED_RANKS * compressed_count(net, SAVED), sizeof(float))};

    (void)state;
    for (int before = 2; before <= COMPRESSED_RANKS; before++) {
        ranks_run(before, gather, &saved);
        assert_int_equal(saved.ranks, before);
        for (int now = 2; now <= COMPRESSED_RANKS; now++)
            ranks_run(now, scatter, &saved);
    }
    free(saved.errors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(q_begins_orthonormal),
        cmocka_unit_test(a_column_that_is_lost_is_drawn_again),
        cmocka_unit_test(it_is_its_definition),
        cmocka_unit_test(steps_that_are_dropped_leave_nothing),
        cmocka_unit_test(errors_of_all_ranks_come_back_and_are_added_up_on_fewer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
