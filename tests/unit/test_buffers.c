/* ddp-test: quick */
/* One rank gives parameters, and the buffers that live in one piece of memory, to all. */
#include "core/buffers.h"
#include "numbers.h"
#include "toy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { BUFFERS = 3, MAX_RANKS = 4 };

static const size_t counts[BUFFERS] = {5, 16, 1};

/* The framework's side: its pointers, and its memory. */
struct statistics {
    ddp_param_table table;
    ddp_buffer buffers[BUFFERS];
    float *slots[BUFFERS];
    float memory[BUFFERS][16];
};

static void fill(float *x, size_t count, int rank, size_t which)
{
    for (size_t i = 0; i < count; i++)
        x[i] = (float)(rank * 10000 + (int)which * 100 + (int)i);
}

static void expect_filled(struct rank *me, const float *x, size_t count, int rank, size_t which)
{
    for (size_t i = 0; i < count; i++) {
        float want;

        fill(&want, 1, rank, which);
        want += (float)i;
        if (x[i] != want)
            rank_wrong(me, "[%zu] of %zu is %g, not %g", i, which, (double)x[i], (double)want);
    }
}

static void make(struct statistics *s, int rank)
{
    for (size_t i = 0; i < BUFFERS; i++) {
        fill(s->memory[i], counts[i], rank, i);
        s->slots[i] = s->memory[i];
        s->buffers[i] = (ddp_buffer){.layer = (int)i,
                                     .kind = "batchnorm",
                                     .part = "rolling mean",
                                     .count = counts[i],
                                     .slot = &s->slots[i]};
    }
    s->table = (ddp_param_table){.device = ddp_device_host(),
                                 .layer_count = BUFFERS,
                                 .buffer_count = BUFFERS,
                                 .buffers = s->buffers};
}

/* body's shared is the root. */
static void run_with_each_root(void (*body)(struct rank *me))
{
    for (int size = 1; size <= MAX_RANKS; size++)
        for (int root = 0; root < size; root++)
            ranks_run(size, body, &root);
}

static void broadcast_params(struct rank *me)
{
    int root = *(const int *)me->shared;
    struct toy toy;
    ddp_error err;

    toy_open(&toy, 4);
    for (size_t p = 0; p < TOY_PARAMS; p++)
        fill(toy.values[p], toy.params[p].count, me->rank, p);
    rank_expect_ok(me, ddp_params_broadcast(me->group, &toy.table, root, &err), &err);
    for (size_t p = 0; p < TOY_PARAMS; p++)
        expect_filled(me, toy.values[p], toy.params[p].count, root, p);
    toy_close(&toy);
}

static void parameters_become_the_root_s_frozen_ones_too(void **state)
{
    (void)state;
    run_with_each_root(broadcast_params);
}

/* Of a parameter none, one or two buffers. */
static void broadcast_optimizer(struct rank *me)
{
    int root = *(const int *)me->shared;
    struct toy toy, memory[DDP_OPTIMIZER_BUFFERS];
    ddp_error err;

    toy_open(&toy, 0);
    for (size_t k = 0; k < DDP_OPTIMIZER_BUFFERS; k++) {
        toy_open(&memory[k], 0);
        for (size_t p = 0; p < TOY_PARAMS; p++) {
            fill(memory[k].values[p], toy.params[p].count, me->rank, p + 50 * k);
            if (k < p % 3)
                toy.params[p].optimizer.buffer[k] = memory[k].values[p];
        }
    }
    rank_expect_ok(me, ddp_optimizer_broadcast(me->group, &toy.table, 0, root, &err), &err);
    for (size_t k = 0; k < DDP_OPTIMIZER_BUFFERS; k++) {
        for (size_t p = 0; p < TOY_PARAMS; p++)
            expect_filled(me, memory[k].values[p], toy.params[p].count, k < p % 3 ? root : me->rank,
                          p + 50 * k);
        toy_close(&memory[k]);
    }
    toy_close(&toy);
}

static void optimizer_buffers_become_the_root_s(void **state)
{
    (void)state;
    run_with_each_root(broadcast_optimizer);
}

static void broadcast_buffers(struct rank *me)
{
    int root = *(const int *)me->shared;
    struct statistics s;
    ddp_buffers *b;
    ddp_error err;

    make(&s, me->rank);
    if (ddp_buffers_open(&b, me->group, &s.table, &err)) {
        rank_wrong(me, "%s", err.text);
        return;
    }
    for (size_t i = 0; i < BUFFERS; i++)
        expect_filled(me, s.slots[i], counts[i], me->rank, i);
    rank_expect_ok(me, ddp_buffers_start_copy(b, root, &err), &err);
    rank_expect_ok(me, ddp_buffers_fence(b, &err), &err);
    for (size_t i = 0; i < BUFFERS; i++)
        expect_filled(me, s.slots[i], counts[i], root, i);
    /* The framework goes on writing through its pointers. */
    for (size_t i = 0; i < BUFFERS; i++)
        fill(s.slots[i], counts[i], me->rank + 7, i);
    rank_expect_ok(me, ddp_buffers_start_copy(b, root, &err), &err);
    rank_expect_ok(me, ddp_buffers_fence(b, &err), &err);
    ddp_buffers_close(b);
    for (size_t i = 0; i < BUFFERS; i++)
        expect_filled(me, s.slots[i], counts[i], root + 7, i);
}

static void buffers_become_the_root_s_each_time(void **state)
{
    (void)state;
    run_with_each_root(broadcast_buffers);
}

static ddp_group *solo(void)
{
    ddp_group *g;
    ddp_error err;

    if (ddp_group_open(&g, "solo", &err))
        fail_msg("%s", err.text);
    return g;
}

static void buffers_live_in_one_piece_until_they_are_given_back(void **state)
{
    ddp_group *g = solo();
    struct statistics s;
    ddp_buffers *b;
    ddp_error err;

    (void)state;
    make(&s, 3);
    assert_int_equal(ddp_buffers_open(&b, g, &s.table, &err), DDP_OK);
    assert_int_equal(ddp_buffers_bytes(b), (5 + 16 + 1) * sizeof(float));
    for (size_t i = 0; i < BUFFERS; i++)
        assert_ptr_not_equal(s.slots[i], s.memory[i]);
    assert_ptr_equal(s.slots[1], s.slots[0] + 5);
    assert_ptr_equal(s.slots[2], s.slots[1] + 16);
    s.slots[1][15] = 77;
    ddp_buffers_close(b);
    for (size_t i = 0; i < BUFFERS; i++)
        assert_ptr_equal(s.slots[i], s.memory[i]);
    assert_number_equal(s.memory[1][15], 77);
    assert_number_equal(s.memory[0][4], 30004);
    ddp_group_close(g);
}

static void network_without_buffers_sends_none(void **state)
{
    ddp_param_table table = {.device = ddp_device_host(), .layer_count = 3};
    ddp_group *g = solo();
    ddp_buffers *b;
    ddp_error err;

    (void)state;
    assert_int_equal(ddp_buffers_open(&b, g, &table, &err), DDP_OK);
    assert_int_equal(ddp_buffers_bytes(b), 0);
    assert_int_equal(ddp_buffers_start_copy(b, 0, &err), DDP_OK);
    assert_int_equal(ddp_buffers_fence(b, &err), DDP_OK);
    ddp_buffers_close(b);
    assert_int_equal(ddp_params_broadcast(g, &table, 0, &err), DDP_OK);
    ddp_group_close(g);
}

static void owe_a_parameter(struct rank *me)
{
    struct statistics s;
    struct toy toy;
    ddp_buffers *b;
    ddp_error err = {0};
    char want[512];

    toy_open(&toy, 0);
    make(&s, me->rank);
    rank_expect_ok(me, ddp_buffers_open(&b, me->group, &s.table, &err), &err);
    ddp_group_set_timeout(me->group, 200000000);
    if (me->rank == 1) {
        const char *host = ddp_group_host(me->group, 0);

        (void)snprintf(want, sizeof want,
                       "layer 1 (convolutional) weights: broadcast of 1200 bytes from rank 0: "
                       "no message from rank 0 (host %s) for 0.2 s",
                       host);
        rank_expect_error(me, ddp_params_broadcast(me->group, &toy.table, 0, &err), &err,
                          DDP_ERR_COMM, want);
        (void)snprintf(want, sizeof want,
                       "BatchNorm statistics: the group failed earlier: broadcast of 1200 bytes "
                       "from rank 0: no message from rank 0 (host %s) for 0.2 s",
                       host);
        rank_expect_error(me, ddp_buffers_start_copy(b, 0, &err), &err, DDP_ERR_COMM, want);
    }
    rank_meet(me);
    ddp_buffers_close(b);
    toy_close(&toy);
}

static void failure_names_the_parameter(void **state)
{
    (void)state;
    ranks_run(2, owe_a_parameter, NULL);
}

static void close_takes_null(void **state)
{
    (void)state;
    ddp_buffers_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_become_the_root_s_frozen_ones_too),
        cmocka_unit_test(optimizer_buffers_become_the_root_s),
        cmocka_unit_test(buffers_become_the_root_s_each_time),
        cmocka_unit_test(buffers_live_in_one_piece_until_they_are_given_back),
        cmocka_unit_test(network_without_buffers_sends_none),
        cmocka_unit_test(failure_names_the_parameter),
        cmocka_unit_test(close_takes_null),
    };

    return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
