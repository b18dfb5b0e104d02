#include "sums.h"

#include "../reference_sum.h"
#include "comm/collectives.h"
#include "comm/group_gpu.h"
#include "comm/work.h"
#include "device/wire.h"

#include <stdlib.h>
#include <string.h>

static int in_program(const struct rank *me, const struct sum *s)
{
    return !s->memory || me->rank % 3 == 2;
}

void sum_open(struct rank *me, struct sum *s)
{
    ddp_error err;

    s->memory = NULL;
    if (s->number % 4 == 0)
        rank_expect_ok(me,
                       ddp_group_alloc_memory(me->group, ddp_device_host(), &s->memory,
                                              s->count + RANKS_MAX, &err),
                       &err);
    s->buf = in_program(me, s) ? malloc((s->count + 1) * sizeof *s->buf) : s->memory + me->rank;
    if (!s->buf)
        abort();
    rank_expect_ok(me,
                   ddp_allreduce_open_on(&s->work, me->group, ddp_device_host(), s->buf, s->count,
                                         s->wire, &err),
                   &err);
}

void sum_close(struct rank *me, struct sum *s)
{
    ddp_work_close(s->work);
    if (in_program(me, s))
        free(s->buf);
    ddp_group_free_memory(me->group, ddp_device_host(), s->memory);
}

void sum_start(struct rank *me, struct sum *s)
{
    ddp_error err;

    for (size_t i = 0; i < s->count; i++)
        s->buf[i] = reference_value_on(s->wire, me->rank, s->number, i);
    rank_expect_ok(me, ddp_work_start(s->work, &err), &err);
}

static void expect_blocks(struct rank *me, const struct sum *s)
{
    enum { BLOCK = DDP_WIRE_BLOCK };

    for (size_t at = (size_t)me->rank * BLOCK; at < s->count; at += (size_t)me->size * BLOCK) {
        size_t count = s->count - at < BLOCK ? s->count - at : BLOCK;
        float want[BLOCK];

        reference_sum_block(want, 0, me->size, s->number, at, count);
        for (size_t i = 0; i < count; i++)
            if (s->buf[at + i] != want[i]) {
                rank_wrong(me, "fp8 sum %d of %zu: [%zu] is %.9g, not %.9g", s->number, s->count,
                           at + i, (double)s->buf[at + i], (double)want[i]);
                return;
            }
    }
}

/* The reference takes its time: each rank checks some elements, and all of them that they have what
 * rank 0 has. */
void sum_expect(struct rank *me, const struct sum *s)
{
    float *first = malloc((s->count + 1) * sizeof *first);
    ddp_error err;

    if (!first)
        abort();
    memcpy(first, s->buf, s->count * sizeof *first);
    rank_expect_ok(me, ddp_broadcast(me->group, first, s->count * sizeof *first, 0, &err), &err);
    if (memcmp(first, s->buf, s->count * sizeof *first) != 0)
        rank_wrong(me, "%s sum %d of %zu: not rank 0's bits", ddp_wire_name(s->wire), s->number,
                   s->count);
    free(first);
    if (!ddp_work_finite(s->work))
        rank_wrong(me, "%s sum %d of %zu is not finite", ddp_wire_name(s->wire), s->number,
                   s->count);
    if (s->wire == DDP_WIRE_FP8 && me->size > 1) {
        expect_blocks(me, s);
        return;
    }
    for (size_t i = (size_t)me->rank; i < s->count; i += (size_t)me->size) {
        float want = reference_sum_on(s->wire, 0, me->size, s->number, i);

        if (!reference_same_bits(s->buf[i], want)) {
            rank_wrong(me, "%s sum %d of %zu: [%zu] is %.9g, not %.9g", ddp_wire_name(s->wire),
                       s->number, s->count, i, (double)s->buf[i], (double)want);
            return;
        }
    }
}

void sums_together(struct rank *me, struct sum *sums, int count)
{
    enum { ROUNDS = 2 };
    unsigned seed = 5U + (unsigned)me->rank;
    ddp_error err;

    for (int s = 0; s < count; s++)
        sum_open(me, &sums[s]);
    for (int round = 0; round < ROUNDS; round++) {
        for (int s = 0; s < count; s++) {
            sum_start(me, &sums[s]);
            for (int polls = rand_r(&seed) % 5; polls > 0; polls--)
                rank_expect_ok(me, ddp_group_progress(me->group, &err), &err);
        }
        rank_expect_ok(me, ddp_barrier(me->group, &err), &err); /* beside them */
        for (int s = count - 1; s >= 0; s--) {
            rank_expect_ok(me, ddp_work_wait(sums[s].work, &err), &err);
            sum_expect(me, &sums[s]);
        }
    }
    for (int s = 0; s < count; s++)
        sum_close(me, &sums[s]);
}
