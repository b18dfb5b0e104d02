/* ddp-test: quick */
/* Text that comes from elsewhere, as a terminal gets it. */
#include "base/printable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *text, const char *wanted)
{
    char out[256];
    size_t n = ddp_printable(out, text, strlen(text), NULL);

    assert_in_range(n, 0, 4 * strlen(text));
    out[n] = 0;
    assert_string_equal(out, wanted);
}

static void what_is_shown_stays(void **state)
{
    (void)state;
    expect("", "");
    expect("a line\tof words\n", "a line\tof words\n");
    expect("\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x90\x88 \\x1b",
           "\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x90\x88 \\x1b");
}

static void controls_are_escaped(void **state)
{
    (void)state;
    expect("\x1b[2Jcat\r\b\x7f\a", "\\x1b[2Jcat\\x0d\\x08\\x7f\\x07");
    expect("\xc2\x9b"
           "31m",
           "\\xc2\\x9b31m");
    expect("\xef\xbb\xbf"
           "0 .5",
           "\\xef\\xbb\\xbf0 .5");
}

static void what_is_no_utf8_is_escaped(void **state)
{
    (void)state;
    expect("\x9b\xff\xc0\xaf", "\\x9b\\xff\\xc0\\xaf");
    expect("\xed\xa0\x80\xe0\x80\x9b\xf4\x90\x80\x80",
           "\\xed\\xa0\\x80\\xe0\\x80\\x9b\\xf4\\x90\\x80\\x80");
    expect("\xc3(\xe6\xbc", "\\xc3(\\xe6\\xbc");
}

static void a_character_may_come_in_pieces(void **state)
{
    static const char text[] = "a\xf0\x9f\x90\x88";
    char out[32];
    size_t used;

    (void)state;
    for (size_t n = 1; n < 5; n++) {
        assert_int_equal(ddp_printable(out, text, n, &used), 1);
        assert_int_equal(used, 1);
    }
    assert_int_equal(ddp_printable(out, text, 5, &used), 5);
    assert_int_equal(used, 5);
    assert_int_equal(ddp_printable(out, "\xf0(", 2, &used), 5);
    assert_int_equal(used, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_shown_stays),
        cmocka_unit_test(controls_are_escaped),
        cmocka_unit_test(what_is_no_utf8_is_escaped),
        cmocka_unit_test(a_character_may_come_in_pieces),
    };

    return cmocka_run_group_tests_name("printable", tests, NULL, NULL);
}
