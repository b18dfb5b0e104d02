/* ddp-test: quick */
#include "base/huge_pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MIB = 1 << 20, PAGE = 4096 };

static const size_t sizes[] = {0, 1, PAGE, PAGE + 1, 2 * MIB - 1, 2 * MIB, 2 * MIB + 5000, 9 * MIB};

static void expect_zero(const unsigned char *x, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(x[i], 0);
}

static void memory_of_any_size_is_aligned_and_zero(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *x = ddp_pages_alloc(sizes[i]);

        assert_non_null(x);
        assert_int_equal((uintptr_t)x % PAGE, 0);
        expect_zero(x, sizes[i]);
        memset(x, 1, sizes[i]);
        free(x);
    }
}

static void more_than_there_is_gives_null(void **state)
{
    (void)state;
    assert_null(ddp_pages_alloc(SIZE_MAX));
}

static void cleared_memory_is_zero_and_can_be_written(void **state)
{
    enum { BEFORE = 100, BYTES = 5 * PAGE + 7, ALL = 8 * PAGE };
    unsigned char *x = malloc(ALL);

    (void)state;
    assert_non_null(x);
    memset(x, 1, ALL);
    ddp_pages_clear(x + BEFORE, BYTES);
    expect_zero(x + BEFORE, BYTES);
    for (size_t i = 0; i < ALL; i++)
        if (i < BEFORE || i >= BEFORE + BYTES)
            assert_int_equal(x[i], 1);
    memset(x, 2, ALL);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_any_size_is_aligned_and_zero),
        cmocka_unit_test(more_than_there_is_gives_null),
        cmocka_unit_test(cleared_memory_is_zero_and_can_be_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
