/* ddp-test: quick tsan */
/* The order of the sum, against the formulas that sum.h gives. The values are
 * chosen so that another order gives other bits. */
#include "device/sum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above, in this order. */
#include <cmocka.h>

enum { COUNT = 5000, RANKS = 8 };

static const float v[RANKS] = {1e8F, 3.7F, -1e8F, 0.1F, 77.77F, 1e-3F, 2e7F, -5.5F};

static float sum_of(int size, int own)
{
    static float values[RANKS][COUNT];
    float *parts[RANKS];

    for (int r = 0; r < size; r++) {
        parts[r] = values[r];
        for (int i = 0; i < COUNT; i++)
            values[r][i] = v[r];
    }
    ddp_sum_tree(parts, size, own, COUNT, DDP_WIRE_FP32);
    for (int i = 0; i < COUNT; i++)
        if (values[own][i] != values[own][0])
            fail_msg("size %d: element %d is %g, element 0 is %g", size, i, (double)values[own][i],
                     (double)values[own][0]);
    return values[own][0];
}

static void check(int size, float want)
{
    for (int own = 0; own < size; own++) {
        float got = sum_of(size, own);

        if (got != want)
            fail_msg("size %d, own %d: %.9g, not %.9g", size, own, (double)got, (double)want);
    }
}

static void sum_is_the_tree_that_the_header_gives(void **state)
{
    float four = (v[0] + v[1]) + (v[2] + v[3]);

    (void)state;
    check(1, v[0]);
    check(2, v[0] + v[1]);
    check(3, (v[0] + v[1]) + v[2]);
    check(4, four);
    check(5, four + v[4]);
    check(6, four + (v[4] + v[5]));
    check(7, four + ((v[4] + v[5]) + v[6]));
    check(8, four + ((v[4] + v[5]) + (v[6] + v[7])));
}

/* Nodes that come one by one, put on a stack, become the nodes that ddp_sum_nodes has of all. */
static void check_stack(int size, int begin, int middle, int end)
{
    int firsts[DDP_SUM_NODES_MAX], all[DDP_SUM_NODES_MAX], left = 0;
    unsigned char additions[DDP_SUM_NODES_MAX];
    int count = ddp_sum_nodes(size, begin, middle, firsts);
    int nodes = ddp_sum_nodes(size, begin, end, all);

    count += ddp_sum_nodes(size, middle, end, firsts + count);
    assert_int_equal(ddp_sum_stack(size, firsts, count, end, additions), nodes);
    for (int i = 0; i < count; i++)
        left += 1 - additions[i];
    assert_int_equal(left, nodes);
}

static void nodes_on_a_stack_become_larger_ones(void **state)
{
    unsigned char additions[RANKS];
    int ranks[RANKS] = {0, 1, 2, 3, 4, 5, 6, 7};

    (void)state;
    for (int size = 1; size <= 33; size++)
        for (int begin = 0; begin < size; begin++)
            for (int end = begin + 1; end <= size; end++)
                for (int middle = begin; middle <= end; middle++)
                    check_stack(size, begin, middle, end);
    assert_int_equal(ddp_sum_stack(6, ranks, 6, 6, additions), 1);
    assert_memory_equal(additions, ((unsigned char[]){0, 1, 0, 2, 0, 2}), 6);
    assert_int_equal(ddp_sum_stack(8, ranks + 1, 6, 7, additions), 4); /* 1, 2 to 3, 4 to 5, 6 */
    assert_memory_equal(additions, ((unsigned char[]){0, 0, 1, 0, 1, 0}), 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sum_is_the_tree_that_the_header_gives),
        cmocka_unit_test(nodes_on_a_stack_become_larger_ones),
    };

    return cmocka_run_group_tests_name("group sum", tests, NULL, NULL);
}
