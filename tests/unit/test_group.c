/* ddp-test: quick tsan */
/* The process group of one process, and what a group refuses. */
#include "comm/backend.h"
#include "comm/collectives.h"
#include "comm/group_gpu.h"
#include "comm/work.h"
#include "numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above, in this order. */
#include <cmocka.h>

static int open_solo(void **state)
{
    ddp_error err;

    return ddp_group_open((ddp_group **)state, "solo", &err);
}

static int close_solo(void **state)
{
    ddp_group_close(*state);
    return 0;
}

/* Who keeps the pointer notices nothing; what was set for the group still holds. */
static void a_backend_opens_again_behind_the_same_handle(void **state)
{
    ddp_group *g = *state;
    ddp_error err;
    int x = 7;

    ddp_group_set_timeout(g, 5);
    g->ops->close(g);
    assert_null(g->hosts);
    assert_int_equal(ddp_group_size(g), 0);
    assert_int_equal(g->ops->open(g, &err), DDP_OK);
    assert_int_equal(ddp_group_size(g), 1);
    assert_string_not_equal(ddp_group_host(g, 0), "");
    assert_int_equal(ddp_broadcast(g, &x, sizeof x, 0, &err), DDP_OK);
    assert_int_equal(g->timeout_ns, 5);
}

static void solo_is_rank_0_of_1(void **state)
{
    assert_int_equal(ddp_group_rank(*state), 0);
    assert_int_equal(ddp_group_size(*state), 1);
    assert_int_equal(ddp_group_local_rank(*state), 0);
    assert_int_equal(ddp_group_local_size(*state), 1);
    assert_string_equal(ddp_group_transport(*state), "solo");
    assert_string_not_equal(ddp_group_host(*state, 0), "");
}

static void sum_over_one_rank_changes_nothing(void **state)
{
    float grad[3] = {1, 2, 3};
    ddp_work *w;
    ddp_error err;

    assert_int_equal(ddp_allreduce_open(&w, *state, grad, 3, &err), DDP_OK);
    assert_false(ddp_work_done(w));
    assert_int_equal(ddp_work_start(w, &err), DDP_OK);
    assert_int_equal(ddp_group_progress(*state, &err), DDP_OK);
    assert_true(ddp_work_done(w));
    assert_int_equal(ddp_work_wait(w, &err), DDP_OK);
    assert_number_equal(grad[0], 1);
    assert_number_equal(grad[1], 2);
    assert_number_equal(grad[2], 3);
    ddp_work_close(w);
}

static void collectives_of_one_rank_end_at_once(void **state)
{
    int mine = 7, all = 0;
    ddp_error err;

    assert_int_equal(ddp_broadcast(*state, &mine, sizeof mine, 0, &err), DDP_OK);
    assert_int_equal(ddp_allgather(*state, &mine, &all, sizeof mine, &err), DDP_OK);
    assert_int_equal(ddp_barrier(*state, &err), DDP_OK);
    assert_int_equal(mine, 7);
    assert_int_equal(all, 7);
}

static void wait_refuses_a_sum_that_was_not_started(void **state)
{
    ddp_work *w;
    ddp_error err;

    assert_int_equal(ddp_allreduce_open(&w, *state, NULL, 0, &err), DDP_OK);
    assert_int_equal(ddp_work_wait(w, &err), DDP_ERR_USAGE);
    assert_string_equal(err.text, "sum 1 was not started");
    ddp_work_close(w);
}

static void broadcast_refuses_a_root_that_is_no_rank(void **state)
{
    float x = 0;
    ddp_error err;

    assert_int_equal(ddp_broadcast(*state, &x, sizeof x, 7, &err), DDP_ERR_USAGE);
    assert_string_equal(err.text, "root 7 is not a rank of 1");
}

static void open_names_the_backend_it_lacks(void **state)
{
    ddp_group *g;
    ddp_error err;

    (void)state;
    assert_int_equal(ddp_group_open(&g, "carrier-pigeon", &err), DDP_ERR_USAGE);
    assert_string_equal(err.text, "no backend 'carrier-pigeon' in this build");
    assert_null(g);
}

static void open_threads_refuses_a_world_without_ranks(void **state)
{
    ddp_group *g[1];
    ddp_error err;

    (void)state;
    assert_int_equal(ddp_group_open_threads(g, 0, &err), DDP_ERR_USAGE);
    assert_string_equal(err.text, "a group wants 1 or more ranks, not 0");
}

static void close_takes_null(void **state)
{
    (void)state;
    ddp_group_close(NULL);
    ddp_work_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(solo_is_rank_0_of_1, open_solo, close_solo),
        cmocka_unit_test_setup_teardown(a_backend_opens_again_behind_the_same_handle, open_solo,
                                        close_solo),
        cmocka_unit_test_setup_teardown(sum_over_one_rank_changes_nothing, open_solo, close_solo),
        cmocka_unit_test_setup_teardown(collectives_of_one_rank_end_at_once, open_solo, close_solo),
        cmocka_unit_test_setup_teardown(wait_refuses_a_sum_that_was_not_started, open_solo,
                                        close_solo),
        cmocka_unit_test_setup_teardown(broadcast_refuses_a_root_that_is_no_rank, open_solo,
                                        close_solo),
        cmocka_unit_test(open_names_the_backend_it_lacks),
        cmocka_unit_test(open_threads_refuses_a_world_without_ranks),
        cmocka_unit_test(close_takes_null),
    };

    return cmocka_run_group_tests_name("group", tests, NULL, NULL);
}
