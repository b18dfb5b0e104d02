/* ddp-test: quick tsan */
/* Numbers of 16 and of 8 bits against their definition, and sums that travel as such: the tree of
 * rounded sums, to the bit, whatever the schedule and the hosts. */
#include "comm/group_schedule.h"
#include "comm/work.h"
#include "device/wire.h"
#include "numbers.h"

#include "../reference_sum.h"
#include "sums.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static const ddp_wire wires[] = {DDP_WIRE_BF16, DDP_WIRE_FP16};

enum { WIRES = sizeof wires / sizeof wires[0], CHUNK = (1 << 19) / (int)sizeof(float) };

/* ---- numbers ---- */

static void expect_rounded(ddp_wire wire, float x)
{
    float got = ddp_wire_rounded(x, wire), want = reference_rounded(wire, x);

    if (isnan(x) ? !isnan(got) : !reference_same_bits(got, want))
        fail_msg("%s of %.9g (%08x) is %.9g, not %.9g", ddp_wire_name(wire), (double)x,
                 ddp_bits_of(x), (double)got, (double)want);
}

/* Each number of 16 bits, the floats beside it and halfway to the next one; infinite ones and NaN
 * are among them. */
static void every_number_is_rounded_to_the_nearest(void **state)
{
    (void)state;
    for (int w = 0; w < WIRES; w++)
        for (uint32_t half = 0; half <= UINT16_MAX; half++) {
            float x = ddp_from_half((uint16_t)half, wires[w]);
            uint32_t bits = ddp_bits_of(x),
                     middle = wires[w] == DDP_WIRE_BF16 ? 1U << 15 : 1U << 12;

            expect_rounded(wires[w], x);
            if (!isnan(x) && ddp_to_half(x, wires[w]) != half)
                fail_msg("%s: %04x becomes %04x", ddp_wire_name(wires[w]), half,
                         ddp_to_half(x, wires[w]));
            if (!isfinite(x))
                continue;
            for (uint32_t d = 0; d < 3; d++) {
                expect_rounded(wires[w], ddp_float_of(bits + 1 - d));
                expect_rounded(wires[w], ddp_float_of(bits + middle + 1 - d));
            }
        }
}

static void floats_of_any_size_are_rounded_to_the_nearest(void **state)
{
    (void)state;
    for (int w = 0; w < WIRES; w++)
        for (uint64_t bits = 1; bits <= UINT32_MAX; bits += 10007)
            expect_rounded(wires[w], ddp_float_of((uint32_t)bits));
}

static void too_large_is_infinite(void **state)
{
    (void)state;
    assert_number_equal(ddp_wire_rounded(65519.0F, DDP_WIRE_FP16), 65504.0F);
    assert_true(isinf(ddp_wire_rounded(65520.0F, DDP_WIRE_FP16)));
    assert_true(isinf(ddp_wire_rounded(-1e30F, DDP_WIRE_FP16)));
    assert_true(isinf(ddp_wire_rounded(3.4e38F, DDP_WIRE_BF16)));
    assert_true(isnan(ddp_wire_rounded(ddp_float_of(0x7fffffffU), DDP_WIRE_BF16)));
    assert_true(isnan(ddp_wire_rounded(ddp_float_of(0x7f800001U), DDP_WIRE_FP16)));
}

static void arrays_are_packed_as_their_elements(void **state)
{
    enum { COUNT = 5003 };
    static float x[COUNT], y[COUNT];
    static uint16_t packed[COUNT];

    (void)state;
    for (int w = 0; w < WIRES; w++) {
        for (size_t i = 0; i < COUNT; i++)
            x[i] = reference_value_on(wires[w], 0, w, i);
        ddp_wire_pack(packed, x, COUNT, wires[w]);
        ddp_wire_unpack(y, packed, COUNT, wires[w]);
        ddp_wire_round(x, COUNT, wires[w]);
        for (size_t i = 0; i < COUNT; i++) {
            float want = reference_rounded(wires[w], reference_value_on(wires[w], 0, w, i));

            if (!reference_same_bits(x[i], want) || !reference_same_bits(y[i], want))
                fail_msg("[%zu] is %.9g, and %.9g unpacked, not %.9g", i, (double)x[i],
                         (double)y[i], (double)want);
        }
    }
}

/* ---- blocks of 8 bits ---- */

/* Check that x becomes what the reference makes of it, packed or not, and stays it. */
static void expect_block(const float *x, size_t count)
{
    float want[DDP_WIRE_BLOCK], got[DDP_WIRE_BLOCK], unpacked[DDP_WIRE_BLOCK];
    uint8_t packed[DDP_WIRE_BLOCK + 1];

    memcpy(want, x, count * sizeof *x);
    memcpy(got, x, count * sizeof *x);
    reference_round_block(want, count);
    ddp_wire_pack(packed, x, count, DDP_WIRE_FP8);
    ddp_wire_unpack(unpacked, packed, count, DDP_WIRE_FP8);
    for (int twice = 0; twice < 2; twice++) {
        ddp_wire_round(got, count, DDP_WIRE_FP8);
        for (size_t i = 0; i < count; i++)
            if (got[i] != want[i] || unpacked[i] != want[i])
                fail_msg("[%zu] of %zu: %.9g becomes %.9g, and %.9g unpacked, not %.9g", i, count,
                         (double)x[i], (double)got[i], (double)unpacked[i], (double)want[i]);
    }
}

/* Beside each largest number of a block stands every number that it leaves bits for, and those in
 * the middle between two. */
static void blocks_are_rounded_to_the_nearest(void **state)
{
    float x[DDP_WIRE_BLOCK] = {0};

    (void)state;
    expect_block(x, DDP_WIRE_BLOCK);
    for (uint32_t most = 1U << 23; most < 0x7f700000U; most += 0x000c0001U)
        for (uint32_t i = 0; i < 256;) {
            x[0] = ddp_float_of(most);
            for (size_t k = 1; k < DDP_WIRE_BLOCK; k++, i++)
                x[k] =
                    (i % 2 ? -x[0] : x[0]) * ((float)(16 + i % 17) / 32 * ldexpf(1, -(int)i / 16));
            expect_block(x, DDP_WIRE_BLOCK - most % 3);
        }
    for (size_t count = 1; count <= DDP_WIRE_BLOCK; count++) {
        for (size_t i = 0; i < count; i++)
            x[i] = reference_value((int)count, 1, i);
        expect_block(x, count);
    }
}

static void a_block_with_a_number_that_is_not_finite_is_nan(void **state)
{
    static const float bad[] = {INFINITY, -INFINITY, NAN, 3.4e38F, -3.4e38F};
    enum { COUNT = 3 * DDP_WIRE_BLOCK };

    (void)state;
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++)
        for (size_t place = 0; place < COUNT; place += 31) {
            size_t block = place / DDP_WIRE_BLOCK;
            uint8_t packed[COUNT + 3];
            float x[COUNT], y[COUNT];

            for (size_t i = 0; i < COUNT; i++)
                x[i] = 1;
            x[place] = bad[b];
            ddp_wire_pack(packed, x, COUNT, DDP_WIRE_FP8);
            ddp_wire_unpack(y, packed, COUNT, DDP_WIRE_FP8);
            ddp_wire_round(x, COUNT, DDP_WIRE_FP8);
            for (size_t i = 0; i < COUNT; i++) {
                int is_nan = i / DDP_WIRE_BLOCK == block;

                assert_int_equal(isnan(x[i]) != 0, is_nan);
                assert_int_equal(isnan(y[i]) != 0, is_nan);
            }
        }
}

/* ---- sums ---- */

/* Make sums of all formats at a time: they do not mix. */
static void sums(struct rank *me)
{
    static const size_t counts[] = {
        1, 17, 5000, CHUNK + 3, (size_t)4 * CHUNK / 3, 0, 20011, (size_t)2 * CHUNK + 65,
        3, 40, 64,   129};
    static const ddp_wire all[] = {DDP_WIRE_BF16, DDP_WIRE_FP32, DDP_WIRE_FP16, DDP_WIRE_FP8};
    enum { SUMS = sizeof counts / sizeof counts[0] };
    struct sum s[SUMS];

    for (int i = 0; i < SUMS; i++)
        s[i] = (struct sum){.number = i, .count = counts[i], .wire = all[i % 4]};
    sums_together(me, s, SUMS);
}

static const struct hosts_shape shapes[] = {
    {1, 0, {2}},          {1, 0, {5}},
    {2, 0, {1, 1}},       {2, 0, {2, 2}},
    {2, 0, {3, 3}},       {2, 0, {4, 1}},
    {3, 0, {2, 1, 4}},    {4, 2, {1, 1, 1, 1}},
    {4, 0, {2, 2, 2, 2}}, {9, 3, {1, 1, 1, 1, 1, 1, 1, 1, 1}},
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void sums_are_the_rounded_tree_directly(void **state)
{
    static const int sizes[] = {2, 3, 4, 7, 8};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        ranks_run(sizes[i], sums, NULL);
}

static void sums_are_the_rounded_tree_on_any_hosts(void **state)
{
    (void)state;
    ranks_run_shapes(shapes, SHAPES, sums);
}

static void one_rank_rounds_nothing(struct rank *me)
{
    struct sum s = {.count = 100, .wire = DDP_WIRE_FP16};
    ddp_error err;

    sum_open(me, &s);
    sum_start(me, &s);
    rank_expect_ok(me, ddp_work_wait(s.work, &err), &err);
    for (size_t i = 0; i < s.count; i++)
        if (!reference_same_bits(s.buf[i], reference_value_on(DDP_WIRE_FP16, 0, 0, i)))
            rank_wrong(me, "[%zu] is %.9g", i, (double)s.buf[i]);
    sum_close(me, &s);
}

static void a_rank_alone_rounds_nothing(void **state)
{
    (void)state;
    ranks_run(1, one_rank_rounds_nothing, NULL);
}

/* In each round one element is too large for fp16, of one rank alone, or the sum of two halves. */
static void overflow(struct rank *me)
{
    enum { COUNT = 11, ROUNDS = 3 * COUNT };
    struct sum s = {.count = COUNT, .wire = DDP_WIRE_FP16};
    ddp_error err;

    sum_open(me, &s);
    for (int round = 0; round < ROUNDS; round++) {
        int place = round / 3, kind = round % 3;

        for (size_t i = 0; i < s.count; i++)
            s.buf[i] = 1;
        if (kind == 1 && me->rank == round % me->size)
            s.buf[place] = 65520;
        if (kind == 2 && me->rank < 2)
            s.buf[place] = -40000;
        rank_expect_ok(me, ddp_work_start(s.work, &err), &err);
        rank_expect_ok(me, ddp_work_wait(s.work, &err), &err);
        if (ddp_work_finite(s.work) != (kind == 0))
            rank_wrong(me, "round %d: finite is %d", round, ddp_work_finite(s.work));
    }
    sum_close(me, &s);
}

/* In each round one rank has a number that is not finite, or is not when all are added. */
static void overflow_of_blocks(struct rank *me)
{
    enum { COUNT = 700, ROUNDS = 30 };
    static const float bad[] = {1, NAN, INFINITY, 3.4e38F, 2e38F};
    struct sum s = {.number = 1, .count = COUNT, .wire = DDP_WIRE_FP8};
    ddp_error err;

    sum_open(me, &s);
    for (int round = 0; round < ROUNDS; round++) {
        int kind = round % 5, own = me->rank == round % me->size;

        for (size_t i = 0; i < s.count; i++)
            s.buf[i] = 1;
        if (kind == 4 ? me->rank < 2 : own)
            s.buf[round * 23] = bad[kind];
        rank_expect_ok(me, ddp_work_start(s.work, &err), &err);
        rank_expect_ok(me, ddp_work_wait(s.work, &err), &err);
        if (ddp_work_finite(s.work) != (kind == 0))
            rank_wrong(me, "round %d: finite is %d", round, ddp_work_finite(s.work));
    }
    sum_close(me, &s);
}

static void every_rank_learns_of_an_overflow(void **state)
{
    (void)state;
    ranks_run(2, overflow, NULL);
    ranks_run(3, overflow, NULL);
    ranks_run_shapes(shapes, SHAPES, overflow);
    ranks_run(2, overflow_of_blocks, NULL);
    ranks_run(3, overflow_of_blocks, NULL);
    ranks_run_shapes(shapes, SHAPES, overflow_of_blocks);
}

static void count_bytes(struct rank *me)
{
    enum { COUNT = 8 * CHUNK };
    static const ddp_wire wires_of[] = {DDP_WIRE_FP32, DDP_WIRE_BF16, DDP_WIRE_FP8};
    uint64_t bytes[3];
    ddp_error err;

    for (int k = 0; k < 3; k++) {
        uint64_t before = ddp_group_traffic(me->group).bytes;
        struct sum s = {.count = COUNT, .wire = wires_of[k]};

        sum_open(me, &s);
        sum_start(me, &s);
        rank_expect_ok(me, ddp_work_wait(s.work, &err), &err);
        bytes[k] = ddp_group_traffic(me->group).bytes - before;
        sum_close(me, &s);
    }
    if (bytes[0] == 0 || bytes[1] * 2 != bytes[0] || bytes[2] * 64 != bytes[0] * 17)
        rank_wrong(me, "%llu bytes, with 8 bits %llu, of float32 %llu",
                   (unsigned long long)bytes[1], (unsigned long long)bytes[2],
                   (unsigned long long)bytes[0]);
}

static void half_or_a_quarter_of_the_bytes_travel(void **state)
{
    static const int ranks[] = {2, 2};

    (void)state;
    ranks_run(2, count_bytes, NULL);
    ranks_run(3, count_bytes, NULL);
    ranks_run_levels(ranks, 2, 0, count_bytes, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_is_rounded_to_the_nearest),
        cmocka_unit_test(floats_of_any_size_are_rounded_to_the_nearest),
        cmocka_unit_test(too_large_is_infinite),
        cmocka_unit_test(arrays_are_packed_as_their_elements),
        cmocka_unit_test(blocks_are_rounded_to_the_nearest),
        cmocka_unit_test(a_block_with_a_number_that_is_not_finite_is_nan),
        cmocka_unit_test(sums_are_the_rounded_tree_directly),
        cmocka_unit_test(sums_are_the_rounded_tree_on_any_hosts),
        cmocka_unit_test(a_rank_alone_rounds_nothing),
        cmocka_unit_test(every_rank_learns_of_an_overflow),
        cmocka_unit_test(half_or_a_quarter_of_the_bytes_travel),
    };

    return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
