/* ddp-test: quick */
/* Running statistics: of all ranks' mini-batches, with the same bits or up to rounding, or rank
 * 0's. */
#include "../reference_sum.h"
#include "core/batchnorm_stats.h"
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

enum { BUFFERS = 3, WIDEST = 16, STEPS = 4, MOST_MINI_BATCHES = 32 };

static const size_t counts[BUFFERS] = {5, WIDEST, 1};

/* Shares that buffers keep: of one normalisation in a mini-batch, of ten, of two. */
static const float kept[BUFFERS] = {0.99F, 0.9F, 0.98F};

/* The framework's side: its pointers, and its memory. */
struct framework {
    ddp_param_table table;
    ddp_buffer buffers[BUFFERS];
    float *slots[BUFFERS];
    float memory[BUFFERS][WIDEST];
};

struct values {
    float at[BUFFERS][WIDEST];
};

struct job {
    int number; /* mini-batches of a step, all ranks together */
    int reads;  /* settle between mini-batches */
    struct values after[STEPS];
};

static float first_value(size_t b, size_t i)
{
    return 1 + (float)b + (float)i / 16;
}

static void make(struct framework *f, int rank)
{
    for (size_t b = 0; b < BUFFERS; b++) {
        for (size_t i = 0; i < counts[b]; i++)
            f->memory[b][i] = first_value(b, i) + (float)rank;
        f->slots[b] = f->memory[b];
        f->buffers[b] = (ddp_buffer){.layer = (int)b,
                                     .kind = "batchnorm",
                                     .part = "rolling mean",
                                     .count = counts[b],
                                     .keep = (double)kept[b],
                                     .slot = &f->slots[b]};
    }
    f->table = (ddp_param_table){.device = ddp_device_host(),
                                 .layer_count = BUFFERS,
                                 .buffer_count = BUFFERS,
                                 .buffers = f->buffers};
}

/* Return what mini-batch p of a step sees: of one size, as statistics are. */
static float seen(int step, int p, size_t b, size_t i)
{
    return 2 + reference_value(p, step * BUFFERS + (int)b, i) / 8388608.0F;
}

static void forward(struct framework *f, int step, int p)
{
    for (size_t b = 0; b < BUFFERS; b++)
        for (size_t i = 0; i < counts[b]; i++)
            f->slots[b][i] = kept[b] * f->slots[b][i] + (1 - kept[b]) * seen(step, p, b, i);
}

static void expect_values(struct rank *me, const struct framework *f, const struct values *want,
                          const char *when)
{
    for (size_t b = 0; b < BUFFERS; b++)
        for (size_t i = 0; i < counts[b]; i++)
            if (!reference_same_bits(f->slots[b][i], want->at[b][i]))
                rank_wrong(me, "%s [%zu] of %zu is %.9g, not %.9g", when, i, b,
                           (double)f->slots[b][i], (double)want->at[b][i]);
}

static void take_values(struct values *values, const struct framework *f)
{
    for (size_t b = 0; b < BUFFERS; b++)
        memcpy(values->at[b], f->slots[b], counts[b] * sizeof(float));
}

static void one_step(struct rank *me, struct framework *f, ddp_batchnorm_stats *s, int step)
{
    const struct job *job = me->shared;
    int mini_batches = job->number / me->size;
    struct values before;
    ddp_error err;

    take_values(&before, f);
    for (int mini_batch = 0; mini_batch < mini_batches; mini_batch++) {
        rank_expect_ok(me, ddp_batchnorm_stats_begin_forward(s, &err), &err);
        forward(f, step, me->rank * mini_batches + mini_batch);
        ddp_batchnorm_stats_fold_mini_batch(s, mini_batch);
        if (!job->reads || mini_batch == mini_batches - 1)
            continue;
        rank_expect_ok(me, ddp_batchnorm_stats_settle(s, &err), &err);
        expect_values(me, f, &before, "in the middle of a step");
    }
    rank_expect_ok(me, ddp_batchnorm_stats_start_sum(s, &err), &err);
}

/* Rank 0 notes the values; the others must have the same. */
static void compose(struct rank *me)
{
    struct job *job = me->shared;
    struct framework f;
    ddp_batchnorm_stats *s;
    ddp_error err;

    make(&f, me->rank);
    if (ddp_batchnorm_stats_open(&s, me->group, &f.table, DDP_STATISTICS_EXACT,
                                 job->number / me->size, 0, &err)) {
        rank_wrong(me, "%s", err.text);
        return;
    }
    for (int step = 0; step < STEPS; step++) {
        one_step(me, &f, s, step);
        if (!job->reads && step < STEPS - 1)
            continue;
        rank_expect_ok(me, ddp_batchnorm_stats_settle(s, &err), &err);
        if (me->rank == 0)
            take_values(&job->after[step], &f);
        rank_meet(me);
        expect_values(me, &f, &job->after[step], "after a step");
    }
    ddp_batchnorm_stats_close(s);
    if (f.slots[1] != f.memory[1])
        rank_wrong(me, "the buffers have not been given back");
    expect_values(me, &f, &job->after[STEPS - 1], "at last");
}

static void expect_sequential(const struct job *job)
{
    for (size_t b = 0; b < BUFFERS; b++)
        for (size_t i = 0; i < counts[b]; i++) {
            double want = (double)first_value(b, i);

            for (int step = 0; step < STEPS; step++) {
                for (int p = 0; p < job->number; p++)
                    want = (double)kept[b] * want
                           + (1 - (double)kept[b]) * (double)seen(step, p, b, i);
                if (job->reads && fabs((double)job->after[step].at[b][i] - want) > 1e-6 * want)
                    fail_msg("%d mini-batches, step %d, [%zu] of %zu: %.9g, not %.9g", job->number,
                             step, i, b, (double)job->after[step].at[b][i], want);
            }
        }
}

static void composed_values_are_those_of_one_process(void **state)
{
    (void)state;
    for (int number = 1; number <= MOST_MINI_BATCHES; number *= 2) {
        struct job job = {.number = number, .reads = 1};

        ranks_run(1, compose, &job);
        expect_sequential(&job);
    }
}

static void composed_values_have_the_same_bits_on_any_number_of_ranks(void **state)
{
    (void)state;
    for (int number = 1; number <= MOST_MINI_BATCHES; number *= 2) {
        struct job want = {.number = number, .reads = 1};

        ranks_run(1, compose, &want);
        for (int size = 1; size <= RANKS_MAX && size <= number; size *= 2)
            for (int reads = 0; reads < 2; reads++) {
                struct job job = {.number = number, .reads = reads};

                ranks_run(size, compose, &job);
                for (size_t b = 0; b < BUFFERS; b++)
                    assert_memory_equal(job.after[STEPS - 1].at[b], want.after[STEPS - 1].at[b],
                                        counts[b] * sizeof(float));
            }
    }
}

/* Rank 0's forward passes alone, one after the other. */
static void follow_rank_0(struct rank *me)
{
    struct framework f, mine;
    ddp_batchnorm_stats *s;
    ddp_error err;

    make(&f, me->rank);
    make(&mine, 0);
    if (ddp_batchnorm_stats_open(&s, me->group, &f.table, DDP_STATISTICS_COPIED, 3, 0, &err)) {
        rank_wrong(me, "%s", err.text);
        return;
    }
    for (int step = 0; step < STEPS; step++) {
        struct values want;

        for (int mini_batch = 0; mini_batch < 3; mini_batch++) {
            rank_expect_ok(me, ddp_batchnorm_stats_begin_forward(s, &err), &err);
            forward(&f, step, me->rank * 3 + mini_batch);
            ddp_batchnorm_stats_fold_mini_batch(s, mini_batch);
            forward(&mine, step, mini_batch);
        }
        rank_expect_ok(me, ddp_batchnorm_stats_start_sum(s, &err), &err);
        rank_expect_ok(me, ddp_batchnorm_stats_settle(s, &err), &err);
        take_values(&want, &mine);
        expect_values(me, &f, &want, "after rank 0's step");
    }
    ddp_batchnorm_stats_close(s);
}

static void values_are_rank_0s_if_so_asked(void **state)
{
    (void)state;
    for (int size = 1; size <= 4; size++)
        ranks_run(size, follow_rank_0, NULL);
}

enum { OWN_STEP = 2, LEFT_OUT_STEP = 3, LEFT_OUT = 1 };

/* Do what one process does with the mini-batches of all ranks in a step, in double. */
static void follow_all(double want[BUFFERS][WIDEST], int step, int number)
{
    for (size_t b = 0; b < BUFFERS; b++)
        for (size_t i = 0; i < counts[b]; i++)
            for (int p = 0; p < number && !(step == LEFT_OUT_STEP && b == LEFT_OUT); p++)
                want[b][i] = (double)kept[b] * want[b][i]
                             + (1 - (double)kept[b]) * (double)seen(step, p, b, i);
}

static void expect_near(struct rank *me, const struct framework *f, double want[BUFFERS][WIDEST],
                        int step)
{
    for (size_t b = 0; b < BUFFERS; b++)
        for (size_t i = 0; i < counts[b]; i++)
            if (!(fabs((double)f->slots[b][i] - want[b][i]) <= 1e-6 * want[b][i]))
                rank_wrong(me, "step %d, [%zu] of %zu is %.9g, not %.9g", step, i, b,
                           (double)f->slots[b][i], want[b][i]);
}

/* One step whose statistics nobody sends, of the same mini-batches on every rank: they go on from
 * what all had. And one that leaves a layer out. */
static void follow_all_ranks(struct rank *me)
{
    const int *mini_batches = me->shared;
    char dropped[BUFFERS] = {0};
    double want[BUFFERS][WIDEST];
    struct framework f;
    ddp_batchnorm_stats *s;
    ddp_error err;

    make(&f, me->rank);
    for (size_t b = 0; b < BUFFERS; b++)
        for (size_t i = 0; i < counts[b]; i++)
            want[b][i] = (double)first_value(b, i);
    if (ddp_batchnorm_stats_open(&s, me->group, &f.table, DDP_STATISTICS_SUMMED, *mini_batches, 0,
                                 &err)) {
        rank_wrong(me, "%s", err.text);
        return;
    }
    for (int step = 0; step < STEPS; step++) {
        int own = step == OWN_STEP, first = own ? 0 : me->rank * *mini_batches;

        dropped[LEFT_OUT] = step == LEFT_OUT_STEP;
        for (int mini_batch = 0; mini_batch < *mini_batches; mini_batch++) {
            struct values before;

            rank_expect_ok(me, ddp_batchnorm_stats_begin_forward(s, &err), &err);
            ddp_batchnorm_stats_drop_layers(s, dropped);
            if (mini_batch == 0 && !own)
                ddp_batchnorm_stats_begin_step(s);
            take_values(&before, &f);
            forward(&f, step, first + mini_batch);
            if (dropped[LEFT_OUT])
                memcpy(f.slots[LEFT_OUT], before.at[LEFT_OUT], counts[LEFT_OUT] * sizeof(float));
            ddp_batchnorm_stats_fold_mini_batch(s, mini_batch);
        }
        if (!own)
            rank_expect_ok(me, ddp_batchnorm_stats_start_sum(s, &err), &err);
        rank_expect_ok(me, ddp_batchnorm_stats_settle(s, &err), &err);
        follow_all(want, step, own ? *mini_batches : me->size * *mini_batches);
        expect_near(me, &f, want, step);
    }
    ddp_batchnorm_stats_close(s);
}

static void values_of_all_ranks_are_those_of_one_process(void **state)
{
    (void)state;
    for (int size = 1; size <= 5; size++)
        for (int mini_batches = 1; mini_batches <= 3; mini_batches++)
            ranks_run(size, follow_all_ranks, &mini_batches);
}

static ddp_group *solo(void)
{
    ddp_group *g;
    ddp_error err;

    if (ddp_group_open(&g, "solo", &err))
        fail_msg("%s", err.text);
    return g;
}

static void pass_without_buffers(ddp_batchnorm_stats_mode of)
{
    ddp_param_table table = {.device = ddp_device_host(), .layer_count = 3};
    ddp_group *g = solo();
    ddp_batchnorm_stats *s;
    ddp_error err;

    assert_int_equal(ddp_batchnorm_stats_open(&s, g, &table, of, 2, 0, &err), DDP_OK);
    for (int mini_batch = 0; mini_batch < 2; mini_batch++) {
        assert_int_equal(ddp_batchnorm_stats_begin_forward(s, &err), DDP_OK);
        ddp_batchnorm_stats_fold_mini_batch(s, mini_batch);
    }
    assert_int_equal(ddp_batchnorm_stats_start_sum(s, &err), DDP_OK);
    assert_int_equal(ddp_batchnorm_stats_settle(s, &err), DDP_OK);
    ddp_batchnorm_stats_close(s);
    ddp_group_close(g);
}

static void network_without_buffers_has_none_to_send(void **state)
{
    (void)state;
    pass_without_buffers(DDP_STATISTICS_COPIED);
    pass_without_buffers(DDP_STATISTICS_SUMMED);
    pass_without_buffers(DDP_STATISTICS_EXACT);
}

static void three_mini_batches_are_refused(void **state)
{
    ddp_group *g = solo();
    struct framework f;
    ddp_batchnorm_stats *s;
    ddp_error err;

    (void)state;
    make(&f, 0);
    assert_int_equal(ddp_batchnorm_stats_open(&s, g, &f.table, DDP_STATISTICS_EXACT, 3, 0, &err),
                     DDP_ERR_USAGE);
    assert_null(s);
    assert_string_equal(err.text,
                        "BatchNorm statistics: a tree of 3 mini-batches: no power of two");
    assert_ptr_equal(f.slots[0], f.memory[0]);
    ddp_batchnorm_stats_close(NULL);
    ddp_group_close(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(composed_values_are_those_of_one_process),
        cmocka_unit_test(composed_values_have_the_same_bits_on_any_number_of_ranks),
        cmocka_unit_test(values_are_rank_0s_if_so_asked),
        cmocka_unit_test(values_of_all_ranks_are_those_of_one_process),
        cmocka_unit_test(network_without_buffers_has_none_to_send),
        cmocka_unit_test(three_mini_batches_are_refused),
    };

    return cmocka_run_group_tests_name("statistics", tests, NULL, NULL);
}
