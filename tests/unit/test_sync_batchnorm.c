/* ddp-test: quick */
/* Mean and sum of squares over the values of all ranks, joined from each rank's own. */
#include "core/sync_batchnorm.h"

#include "ranks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { CHANNELS = 5, VALUES = 7 };

/* Far from 0 in some channels: sums of squares would lose what is looked for. */
static float value_of(int rank, int channel, int i)
{
    return (float)(1000 * channel) + (float)((rank * 31 + channel * 7 + i * 13) % 17);
}

/* Compute mean and squares of the ranks from first to last - 1. */
static void measure(int first, int last, int channel, double *mean, double *squares)
{
    double count = (double)(last - first) * VALUES;

    *mean = *squares = 0;
    for (int r = first; r < last; r++)
        for (int i = 0; i < VALUES; i++)
            *mean += value_of(r, channel, i) / count;
    for (int r = first; r < last; r++)
        for (int i = 0; i < VALUES; i++)
            *squares += pow(value_of(r, channel, i) - *mean, 2);
}

static void expect_near(struct rank *me, const char *what, int channel, double found, double wanted)
{
    if (fabs(found - wanted) > 1e-6 * fabs(wanted) + 1e-6)
        rank_wrong(me, "%s of channel %d is %.9g, not %.9g", what, channel, found, wanted);
}

static void join_channels(struct rank *me, ddp_sync_batchnorm *j, int channels)
{
    float means[CHANNELS], squares[CHANNELS];
    double mean, all;
    ddp_error err;

    for (int c = 0; c < channels; c++) {
        measure(me->rank, me->rank + 1, c, &mean, &all);
        means[c] = (float)mean;
        squares[c] = (float)all;
    }
    rank_expect_ok(me, ddp_sync_batchnorm_join(j, (size_t)channels, VALUES, means, squares, &err),
                   &err);
    for (int c = 0; c < channels; c++) {
        measure(0, me->size, c, &mean, &all);
        expect_near(me, "the mean", c, means[c], mean);
        /* A mean of 4000 is rounded to 1e-4, and its square counts VALUES times. */
        if (fabs(squares[c] - all) > 1e-4 * all)
            rank_wrong(me, "squares of channel %d are %.9g, not %.9g", c, squares[c], all);
    }
}

static void join(struct rank *me)
{
    ddp_sync_batchnorm *j;
    ddp_error err;

    rank_expect_ok(me, ddp_sync_batchnorm_open(&j, me->group, &err), &err);
    join_channels(me, j, 1); /* the arrays grow */
    join_channels(me, j, CHANNELS);
    join_channels(me, j, 2);
    ddp_sync_batchnorm_close(j);
}

static void moments_are_those_of_all_values(void **state)
{
    (void)state;
    for (int size = 1; size <= 7; size++)
        ranks_run(size, join, NULL);
}

static void average(struct rank *me)
{
    float a[CHANNELS], b[CHANNELS];
    ddp_sync_batchnorm *j;
    ddp_error err;

    rank_expect_ok(me, ddp_sync_batchnorm_open(&j, me->group, &err), &err);
    for (int c = 0; c < CHANNELS; c++) {
        a[c] = (float)(me->rank + c);
        b[c] = (float)(me->rank * c);
    }
    rank_expect_ok(me, ddp_sync_batchnorm_average(j, CHANNELS, a, b, &err), &err);
    for (int c = 0; c < CHANNELS; c++) {
        expect_near(me, "a", c, a[c], (me->size - 1) / 2. + c);
        expect_near(me, "b", c, b[c], (me->size - 1) / 2. * c);
    }
    ddp_sync_batchnorm_close(j);
}

static void averages_are_over_ranks(void **state)
{
    (void)state;
    for (int size = 1; size <= 5; size++)
        ranks_run(size, average, NULL);
}

/* Each rank has one value, which is its mean: what joins them is the distances. */
static void join_single_values(struct rank *me)
{
    float mean = (float)me->rank, squares = 0;
    ddp_sync_batchnorm *j;
    ddp_error err;

    rank_expect_ok(me, ddp_sync_batchnorm_open(&j, me->group, &err), &err);
    rank_expect_ok(me, ddp_sync_batchnorm_join(j, 1, 1, &mean, &squares, &err), &err);
    expect_near(me, "the mean", 0, mean, 1.5);
    expect_near(me, "squares", 0, squares, 5);
    ddp_sync_batchnorm_close(j);
}

static void one_value_a_rank_has_a_variance(void **state)
{
    (void)state;
    ranks_run(4, join_single_values, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_those_of_all_values),
        cmocka_unit_test(averages_are_over_ranks),
        cmocka_unit_test(one_value_a_rank_has_a_variance),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
