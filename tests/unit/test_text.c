/* ddp-test: quick */
/* Plurals and durations: base/plural.c. */
#include "base/plural.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static void a_time_has_the_unit_that_a_reader_wants(void **state)
{
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {{0, "0 seconds"},           {1.2, "1 second"},        {89, "89 seconds"},
                 {91, "2 minutes"},          {5399, "90 minutes"},     {5400, "1.5 hours"},
                 {47 * 3600., "47.0 hours"}, {48 * 3600., "2.0 days"}, {864000, "10.0 days"}};
    char text[32];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ddp_duration(cases[i].seconds, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_has_the_unit_that_a_reader_wants),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
