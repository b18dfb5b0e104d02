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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sum_is_the_tree_that_the_header_gives)};

    return cmocka_run_group_tests_name("group sum", tests, NULL, NULL);
}
