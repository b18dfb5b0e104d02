/* ddp-test: quick tsan */
/* Sums that take turns at several channels: the bits of one, and each channel has its share. */
#include "comm/group.h"
#include "comm/group_schedule.h"
#include "comm/work.h"

#include "../reference_sum.h"
#include "ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { SUMS = 8, ROUNDS = 2 };

struct job {
    int channels;
    ddp_schedule schedule;
};

static const size_t counts[SUMS] = {5000, 1, 70000, 16, 140001, 0, 333, 2341};

static void start(struct rank *me, ddp_work *sum, float *buf, int s)
{
    ddp_error err;

    for (size_t i = 0; i < counts[s]; i++)
        buf[i] = reference_value(me->rank, s, i);
    rank_expect_ok(me, ddp_work_start(sum, &err), &err);
    if ((s + me->rank) % 3 == 0)
        rank_expect_ok(me, ddp_group_progress(me->group, &err), &err);
}

static void finish(struct rank *me, ddp_work *sum, const float *buf, int s)
{
    ddp_error err;

    rank_expect_ok(me, ddp_work_wait(sum, &err), &err);
    for (size_t i = 0; i < counts[s]; i++)
        if (!reference_same_bits(buf[i], reference_sum(0, me->size, s, i))) {
            rank_wrong(me, "sum %d: [%zu] is %.9g", s, i, (double)buf[i]);
            return;
        }
}

static void sum_in_turn(struct rank *me)
{
    const struct job *job = me->shared;
    ddp_work *sums[SUMS];
    float *bufs[SUMS];
    ddp_traffic sent;
    ddp_error err;

    rank_expect_ok(me, ddp_group_use_schedule(me->group, job->schedule, &err), &err);
    rank_expect_ok(me, ddp_group_use_channels(me->group, job->channels, &err), &err);
    for (int s = 0; s < SUMS; s++) {
        bufs[s] = calloc(counts[s] + 1, sizeof(float));
        if (!bufs[s])
            abort();
        rank_expect_ok(me, ddp_allreduce_open(&sums[s], me->group, bufs[s], counts[s], &err), &err);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int s = 0; s < SUMS; s++)
            start(me, sums[s], bufs[s], s);
        for (int s = SUMS - 1; s >= 0; s--)
            finish(me, sums[s], bufs[s], s);
    }
    sent = ddp_group_traffic(me->group);
    for (int c = 0; c < DDP_CHANNELS_MAX && job->schedule == DDP_SCHEDULE_DIRECT; c++)
        if ((sent.channel_bytes[c] > 0) != (c < job->channels))
            rank_wrong(me, "%d channels: channel %d sent %llu bytes", job->channels, c,
                       (unsigned long long)sent.channel_bytes[c]);
    rank_meet(me);
    for (int s = 0; s < SUMS; s++) {
        ddp_work_close(sums[s]);
        free(bufs[s]);
    }
}

static void any_number_of_channels_has_the_bits_of_one(void **state)
{
    static const int channels[] = {1, 2, 3, 4, 7};

    (void)state;
    for (int ranks = 2; ranks <= 4; ranks++)
        for (size_t k = 0; k < sizeof channels / sizeof *channels; k++) {
            struct job job = {.channels = channels[k], .schedule = DDP_SCHEDULE_DIRECT};

            ranks_run(ranks, sum_in_turn, &job);
        }
}

static void between_hosts_of_several_ranks_too(void **state)
{
    static const int ranks[] = {2, 2, 1};
    struct job job = {.channels = 2, .schedule = DDP_SCHEDULE_HIERARCHICAL};

    (void)state;
    ranks_run_levels(ranks, 3, 2, sum_in_turn, &job);
}

static void ask_for_too_many(struct rank *me)
{
    ddp_error err;

    rank_expect_error(me, ddp_group_use_channels(me->group, 9, &err), &err, DDP_ERR_USAGE,
                      "a group has 1 to 8 channels, not 9");
    rank_expect_error(me, ddp_group_use_channels(me->group, 0, &err), &err, DDP_ERR_USAGE,
                      "a group has 1 to 8 channels, not 0");
    rank_expect_ok(me, ddp_group_use_channels(me->group, 8, &err), &err);
    if (ddp_group_channels(me->group) != (me->size > 1 ? 8 : 1))
        rank_wrong(me, "%d channels", ddp_group_channels(me->group));
}

static void there_are_one_to_eight(void **state)
{
    (void)state;
    ranks_run(1, ask_for_too_many, NULL);
    ranks_run(2, ask_for_too_many, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_channels_has_the_bits_of_one),
        cmocka_unit_test(between_hosts_of_several_ranks_too),
        cmocka_unit_test(there_are_one_to_eight),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
