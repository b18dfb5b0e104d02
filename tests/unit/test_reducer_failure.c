/* ddp-test: quick tsan */
/* Errors of the reducer when a layer or a rank is missing. */
#include "toy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static const char *const refusal_of_8 =
    "layer 8 (convolutional) has parameters and did not run backward in this mini-batch; "
    "find_unused 1 allows that";

static ddp_reducer *open_reducer(struct rank *me, struct toy *toy, size_t bucket_bytes, int overlap)
{
    ddp_reducer_config config = {
        .bucket_bytes = bucket_bytes, .first_bucket_bytes = bucket_bytes, .overlap = overlap};
    ddp_reducer *r = NULL;
    ddp_error err;

    toy_open(toy, 0);
    rank_expect_ok(me, ddp_reducer_open(&r, me->group, &toy->table, &config, &err), &err);
    return r;
}

/* No rank gives memory back that another may still read. */
static void close_reducer(struct rank *me, struct toy *toy, ddp_reducer *r)
{
    rank_meet(me);
    ddp_reducer_close(r);
    toy_close(toy);
}

/* Layers from the last to the first, but for one. */
static void ready_without(struct rank *me, ddp_reducer *r, int skipped)
{
    ddp_error err;

    for (int layer = TOY_LAYERS - 1; layer >= 0; layer--)
        if (layer != skipped)
            rank_expect_ok(me, ddp_reducer_layer_ready(r, layer, &err), &err);
}

static void skip_in_one_process(struct rank *me)
{
    struct toy toy;
    ddp_reducer *r = open_reducer(me, &toy, 1, 1);
    ddp_error err = {0};

    for (int sync = 0; sync < 2; sync++) {
        ddp_reducer_backward_begin(r, sync);
        ready_without(me, r, 8);
        rank_expect_error(me, ddp_reducer_backward_end(r, &err), &err, DDP_ERR_USAGE, refusal_of_8);
    }
    close_reducer(me, &toy, r);
}

static void layer_that_did_not_run_is_named(void **state)
{
    (void)state;
    ranks_run(1, skip_in_one_process, NULL);
}

static void skip_all(struct rank *me)
{
    struct toy toy;
    ddp_reducer *r = open_reducer(me, &toy, 1, 0);
    ddp_error err = {0};

    ddp_reducer_backward_begin(r, 1);
    rank_expect_error(me, ddp_reducer_backward_end(r, &err), &err, DDP_ERR_USAGE, refusal_of_8);
    close_reducer(me, &toy, r);
}

static void of_several_layers_the_first_of_backward_is_named(void **state)
{
    (void)state;
    ranks_run(1, skip_all, NULL);
}

struct owing {
    size_t bucket_bytes;
    int overlap;
    const char *place; /* what the others say before "no message from ..." */
    const char *sum;
};

/* Rank 1 does not run layer 8, which begins the first bucket. The others wait until
 * the group's timeout. Each waits for layer 1 first, which is in the last bucket. */
static void skip_on_rank_1(struct rank *me)
{
    const struct owing *owing = me->shared;
    struct toy toy;
    ddp_reducer *r = open_reducer(me, &toy, owing->bucket_bytes, owing->overlap);
    ddp_error err = {0};
    char want[512];
    int used;

    ddp_group_set_timeout(me->group, 300000000);
    ddp_reducer_backward_begin(r, 1);
    ready_without(me, r, me->rank == 1 ? 8 : -1);
    if (me->rank == 1)
        rank_expect_error(me, ddp_reducer_backward_end(r, &err), &err, DDP_ERR_USAGE, refusal_of_8);
    else
        rank_expect_ok(me, ddp_reducer_backward_end(r, &err), &err);
    rank_meet(me); /* now rank 1 alone owes something, however slow the machine is */
    if (me->rank != 1) {
        (void)snprintf(want, sizeof want, "%s: no message from rank 1 (host %s) for 0.3 s, %s",
                       owing->place, ddp_group_host(me->group, 1), owing->sum);
        rank_expect_error(me, ddp_reducer_layer_wait(r, 1, &used, &err), &err, DDP_ERR_COMM, want);
    }
    close_reducer(me, &toy, r);
}

static void others_name_the_missing_bucket_its_layers_and_the_rank(void **state)
{
    struct owing owing[] = {
        {1, 1, "gradients of layers 8 to 8 (bucket 1 of 10)", "sum 1 of 10"},
        {1, 0, "gradients of layers 8 to 8 (bucket 1 of 10)", "sum 1 of 10"},
        {1000, 1, "gradients of layers 6 to 8 (bucket 1 of 3)", "sum 1 of 3"},
        {1 << 30, 1, "gradients of layers 1 to 8 (bucket 1 of 1)", "sum 1 of 1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof owing / sizeof owing[0]; i++) {
        ranks_run(2, skip_on_rank_1, &owing[i]);
        ranks_run(4, skip_on_rank_1, &owing[i]);
    }
}

static void leave_in_backward(struct rank *me)
{
    struct toy toy;
    ddp_reducer *r = open_reducer(me, &toy, 1, 1);
    ddp_error err = {0};
    int used;

    ddp_reducer_backward_begin(r, 1);
    if (me->rank == 1)
        ddp_group_abort(me->group, 3);
    rank_meet(me);
    if (me->rank != 1) {
        rank_expect_error(me, ddp_reducer_layer_ready(r, 8, &err), &err, DDP_ERR_COMM,
                          "rank 1 aborted with status 3");
        rank_expect_error(me, ddp_reducer_layer_wait(r, 8, &used, &err), &err, DDP_ERR_COMM,
                          "gradients of layers 8 to 8 (bucket 1 of 10): the group failed earlier: "
                          "rank 1 aborted with status 3");
    }
    close_reducer(me, &toy, r);
}

static void rank_that_aborts_in_backward_is_named_by_the_others(void **state)
{
    (void)state;
    ranks_run(3, leave_in_backward, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layer_that_did_not_run_is_named),
        cmocka_unit_test(of_several_layers_the_first_of_backward_is_named),
        cmocka_unit_test(others_name_the_missing_bucket_its_layers_and_the_rank),
        cmocka_unit_test(rank_that_aborts_in_backward_is_named_by_the_others),
    };

    return cmocka_run_group_tests_name("reducer failure", tests, NULL, NULL);
}
