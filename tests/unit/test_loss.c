/* ddp-test: quick */
/* The loss over ranks, and the requests that travel with it. */
#include "../reference_sum.h"
#include "comm/backend.h"
#include "core/loss.h"
#include "ranks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { STEPS = 6, NUMBER = 16 };

struct job {
    int exact;
    int asked_every; /* the mean is taken every so many steps */
    float mean[STEPS];
};

/* Small whole numbers unless exact. */
static float loss_of(int exact, int step, int p)
{
    return exact ? reference_value(p, step, 0) : (float)((step * 5 + p * 3) % 11);
}

static void measure(struct rank *me)
{
    struct job *job = me->shared;
    volatile sig_atomic_t asked[DDP_REQUESTS] = {0};
    int mini_batches = NUMBER / me->size;
    ddp_loss *l;
    ddp_error err;

    if (ddp_loss_open(&l, me->group, job->exact ? mini_batches : 0, asked, &err)) {
        rank_wrong(me, "%s", err.text);
        return;
    }
    for (int step = 0; step < STEPS; step++) {
        for (int mini_batch = 0; mini_batch < mini_batches; mini_batch++)
            ddp_loss_add(l, mini_batch,
                         loss_of(job->exact, step, me->rank * mini_batches + mini_batch));
        rank_expect_ok(me, ddp_loss_start(l, &err), &err);
        rank_expect_ok(me, ddp_loss_start(l, &err), &err);
        rank_expect_ok(me, ddp_loss_finish(l, &err), &err);
        if ((step + 1) % job->asked_every == 0 && me->rank == 0)
            job->mean[step] = ddp_loss_take_mean(l);
        else if ((step + 1) % job->asked_every == 0)
            (void)ddp_loss_take_mean(l);
    }
    ddp_loss_close(l);
}

static void mean_is_that_of_all_steps_since_it_was_taken(void **state)
{
    (void)state;
    for (int size = 1; size <= 8; size *= 2) {
        struct job job = {.asked_every = 3};

        ranks_run(size, measure, &job);
        for (int step = 2; step < STEPS; step += 3) {
            float want = 0;

            for (int s = step - 2; s <= step; s++)
                for (int p = 0; p < NUMBER; p++)
                    want += loss_of(0, s, p);
            if (job.mean[step] != want / (float)size)
                fail_msg("%d ranks: %g, not %g", size, (double)job.mean[step], (double)want / size);
        }
    }
}

static void exact_mean_has_the_same_bits_on_any_number_of_ranks(void **state)
{
    struct job want = {.exact = 1, .asked_every = 2};

    (void)state;
    ranks_run(1, measure, &want);
    if (!reference_same_bits(want.mean[1],
                             reference_sum(0, NUMBER, 0, 0) + reference_sum(0, NUMBER, 1, 0)))
        fail_msg("%.9g is not the tree's sum", (double)want.mean[1]);
    for (int size = 2; size <= 8; size *= 2) {
        struct job job = want;

        ranks_run(size, measure, &job);
        for (int step = 0; step < STEPS; step++)
            if (!reference_same_bits(job.mean[step] * (float)size, want.mean[step]))
                fail_msg("%d ranks, step %d: %.9g times %d is not %.9g", size, step,
                         (double)job.mean[step], size, (double)want.mean[step]);
    }
}

/* The rest of a step that was asked in its middle makes a sum of its own. */
static void ask_in_the_middle(struct rank *me)
{
    volatile sig_atomic_t asked[DDP_REQUESTS] = {0};
    int mini_batches = 8;
    ddp_loss *l;
    ddp_error err;

    rank_expect_ok(me, ddp_loss_open(&l, me->group, mini_batches, asked, &err), &err);
    for (int step = 0; step < 3; step++)
        for (int half = 0; half < 2; half++) {
            float want = half ? 8 + 16 + 32 + 64 + 128 : 1 + 2 + 4, got;

            for (int mini_batch = half ? 3 : 0; mini_batch < (half ? mini_batches : 3);
                 mini_batch++)
                ddp_loss_add(l, mini_batch, (float)(1 << mini_batch));
            rank_expect_ok(me, ddp_loss_start(l, &err), &err);
            rank_expect_ok(me, ddp_loss_finish(l, &err), &err);
            got = ddp_loss_take_mean(l);
            if (got != want)
                rank_wrong(me, "half %d of step %d: %g, not %g", half, step, (double)got,
                           (double)want);
        }
    ddp_loss_close(l);
}

static void mean_can_be_asked_in_the_middle_of_a_step(void **state)
{
    (void)state;
    for (int size = 1; size <= 4; size *= 2)
        ranks_run(size, ask_in_the_middle, NULL);
}

static void expect_requests(struct rank *me, ddp_loss *l, int save, int stop, const char *when)
{
    ddp_requests got;
    ddp_error err;

    rank_expect_ok(me, ddp_loss_start(l, &err), &err);
    rank_expect_ok(me, ddp_loss_finish(l, &err), &err);
    got = ddp_loss_requested(l);
    if (got.save != save || got.stop != stop)
        rank_wrong(me, "%s: save %d and stop %d, not %d and %d", when, got.save, got.stop, save,
                   stop);
}

static void request(struct rank *me)
{
    volatile sig_atomic_t asked[DDP_REQUESTS] = {0};
    ddp_loss *l;
    ddp_error err;

    rank_expect_ok(me, ddp_loss_open(&l, me->group, 0, asked, &err), &err);
    expect_requests(me, l, 0, 0, "nobody");
    if (me->rank == me->size - 1)
        asked[DDP_REQUEST_SAVE] = 1;
    expect_requests(me, l, 1, 0, "the last rank");
    if (asked[DDP_REQUEST_SAVE])
        rank_wrong(me, "the request is still there");
    expect_requests(me, l, 0, 0, "nobody again");
    if (me->rank == me->size - 1)
        asked[DDP_REQUEST_SAVE] = 1;
    ddp_loss_add(l, 0, me->rank == 0 ? NAN : 1);
    expect_requests(me, l, 1, 0, "a loss that is not finite");
    asked[DDP_REQUEST_STOP] = 1;
    expect_requests(me, l, 0, 1, "all ranks");
    /* What comes when the sum has left waits for the next. */
    rank_expect_ok(me, ddp_loss_start(l, &err), &err);
    if (me->rank == 0)
        asked[DDP_REQUEST_STOP] = 1;
    expect_requests(me, l, 0, 0, "too late");
    expect_requests(me, l, 0, 1, "the next one");
    ddp_loss_close(l);
}

static void request_of_any_rank_is_known_to_all_in_the_same_step(void **state)
{
    const int hosts[] = {1, 2};

    (void)state;
    for (int size = 1; size <= 4; size++)
        ranks_run(size, request, NULL);
    ranks_run_levels(hosts, 2, 2, request, NULL);
}

static void see_finite(struct rank *me, ddp_group *group)
{
    volatile sig_atomic_t asked[DDP_REQUESTS] = {0};
    const float losses[] = {1, NAN, 2, INFINITY, 3};
    ddp_loss *l;
    ddp_error err;

    rank_expect_ok(me, ddp_loss_open(&l, group, 0, asked, &err), &err);
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        ddp_loss_add(l, 0, losses[i]);
        rank_expect_ok(me, ddp_loss_start(l, &err), &err);
        rank_expect_ok(me, ddp_loss_finish(l, &err), &err);
        for (int twice = 0; twice < 2; twice++)
            if (ddp_loss_finite(l) != !!isfinite(losses[i]))
                rank_wrong(me, "loss %g: finite %d", (double)losses[i], ddp_loss_finite(l));
    }
    ddp_loss_close(l);
}

static void see_finite_of_ranks(struct rank *me)
{
    see_finite(me, me->group);
}

static void see_finite_alone(struct rank *me)
{
    ddp_group *alone;
    ddp_error err;

    if (ddp_group_open(&alone, "solo", &err)) {
        rank_wrong(me, "%s", err.text);
        return;
    }
    see_finite(me, alone);
    ddp_group_close(alone);
}

/* Also by a second look, and in a group of one process. */
static void loss_that_is_not_finite_is_seen(void **state)
{
    (void)state;
    for (int size = 1; size <= 3; size++)
        ranks_run(size, see_finite_of_ranks, NULL);
    ranks_run(1, see_finite_alone, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_is_that_of_all_steps_since_it_was_taken),
        cmocka_unit_test(exact_mean_has_the_same_bits_on_any_number_of_ranks),
        cmocka_unit_test(mean_can_be_asked_in_the_middle_of_a_step),
        cmocka_unit_test(request_of_any_rank_is_known_to_all_in_the_same_step),
        cmocka_unit_test(loss_that_is_not_finite_is_seen),
    };

    return cmocka_run_group_tests_name("loss", tests, NULL, NULL);
}
