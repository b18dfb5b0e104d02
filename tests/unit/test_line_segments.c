/* ddp-test: quick */
/* The line of progress, composed of segments: show/line_segments.c. */
#include "show/line_segments.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const ddp_line_segment segments[] = {
    {NULL, "step 1"}, {"1", ", loss 2"}, {"36", "  4 images/s"}, {NULL, " of 5"}, {NULL, "  left"}};

static void assert_line(size_t columns, int colours, const char *expected)
{
    char line[DDP_LINE_BYTES];

    ddp_compose_line(line, segments, sizeof segments / sizeof *segments, columns, colours);
    assert_string_equal(line, expected);
}

static void all_segments_with_their_colours(void **state)
{
    (void)state;
    assert_line(80, 1,
                "\rstep 1\033[1m, loss 2\033[0m\033[36m  4 images/s\033[0m of 5  left\033[K\r");
    assert_line(37, 0, "\rstep 1, loss 2  4 images/s of 5  left\033[K\r");
}

static void a_group_without_room_is_left_out(void **state)
{
    (void)state;
    assert_line(36, 0, "\rstep 1, loss 2  4 images/s of 5\033[K\r");
    assert_line(30, 0, "\rstep 1, loss 2  left\033[K\r");
    assert_line(19, 0, "\rstep 1, loss 2\033[K\r");
}

static void the_first_group_is_cut(void **state)
{
    (void)state;
    assert_line(9, 0, "\rstep 1, l\033[K\r");
    assert_line(9, 1, "\rstep 1\033[1m, l\033[0m\033[K\r");
}

static void a_line_never_outgrows_its_memory(void **state)
{
    static char text[2 * DDP_LINE_BYTES];
    const ddp_line_segment longest = {"1", text};
    char line[DDP_LINE_BYTES];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    ddp_compose_line(line, &longest, 1, 100000, 1);
    assert_int_equal(strlen(line), 1 + 4 + DDP_LINE_BYTES / 4 + 4 + 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_segments_with_their_colours),
        cmocka_unit_test(a_group_without_room_is_left_out),
        cmocka_unit_test(the_first_group_is_cut),
        cmocka_unit_test(a_line_never_outgrows_its_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
