/* ddp-test: quick */
/* The figures behind a step's line: show/progress.c. */
#include "numbers.h"
#include "show/progress.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const int64_t second = 1000000000;

/* A step of so many seconds, of which `waited` were communication, with 8 images. */
static void step(ddp_progress *p, ddp_progress_now *now, double seconds, double waited)
{
    now->now_ns += (int64_t)(seconds * 1e9);
    now->communication_ns += (int64_t)(waited * 1e9);
    now->images += 8;
    now->step++;
    ddp_progress_step(p, now);
}

static void even_steps_have_their_own_speed(void **state)
{
    ddp_progress_now now = {.now_ns = 7 * second, .images = 80, .step = 10, .last_step = 30};
    ddp_progress p;
    char text[128];

    (void)state;
    ddp_progress_start(&p, &now);
    for (int i = 0; i < 10; i++)
        step(&p, &now, 0.5, 0.125);
    assert_near(ddp_progress_speed(&p), 16, 1e-9);
    assert_near(ddp_progress_communication(&p), 0.25, 1e-9);
    assert_near(ddp_progress_remaining_s(&p), 5, 1e-9);
    ddp_progress_line(&p, text, sizeof text);
    assert_string_equal(text, ", 16.0 images/s, 25% comm, 5 seconds left");
}

static void a_loader_that_holds_training_up_is_said(void **state)
{
    ddp_progress_now now = {.now_ns = 7 * second, .last_step = 30};
    ddp_progress p;
    char text[128];

    (void)state;
    ddp_progress_start(&p, &now);
    for (int i = 0; i < 10; i++) {
        now.loading_ns += second / 20;
        step(&p, &now, 0.5, 0.125);
    }
    assert_near(ddp_progress_loading(&p), 0.1, 1e-9);
    assert_false(ddp_progress_waits_for_loader(&p));
    ddp_progress_line(&p, text, sizeof text);
    assert_string_equal(text, ", 16.0 images/s, 25% comm, 10 seconds left");
    for (int i = 0; i < 200; i++) {
        now.loading_ns += 2 * second / 5;
        step(&p, &now, 1, 0);
    }
    now.last_step = 220;
    now.loading_ns += 2 * second / 5;
    step(&p, &now, 1, 0);
    assert_near(ddp_progress_loading(&p), 0.4, 1e-4);
    ddp_progress_line(&p, text, sizeof text);
    assert_string_equal(text, ", 8.0 images/s, 0% comm, 40% loading, 9 seconds left");
}

static void one_slow_step_moves_the_speed_a_little_and_many_all_of_it(void **state)
{
    ddp_progress_now now = {.now_ns = second};
    ddp_progress p;

    (void)state;
    ddp_progress_start(&p, &now);
    for (int i = 0; i < 100; i++)
        step(&p, &now, 0.01, 0);
    step(&p, &now, 0.02, 0);
    assert_greater(ddp_progress_speed(&p), 700);
    assert_less(ddp_progress_speed(&p), 800);
    for (int i = 0; i < 200; i++)
        step(&p, &now, 0.02, 0);
    assert_near(ddp_progress_speed(&p), 400, 1);
}

static void what_is_not_known_is_left_out(void **state)
{
    ddp_progress_now now = {.now_ns = second, .communication_ns = -1, .loading_ns = -1};
    ddp_progress p;
    char text[128];

    (void)state;
    ddp_progress_start(&p, &now);
    now.now_ns += second;
    now.images += 8;
    now.step++;
    ddp_progress_step(&p, &now);
    assert_true(isnan(ddp_progress_communication(&p)));
    assert_true(isnan(ddp_progress_loading(&p)));
    assert_true(isnan(ddp_progress_remaining_s(&p)));
    ddp_progress_line(&p, text, sizeof text);
    assert_string_equal(text, ", 8.0 images/s");
}

static void communication_that_a_gpu_tells_late_is_no_more_than_the_step(void **state)
{
    ddp_progress_now now = {.now_ns = second};
    ddp_progress p;

    (void)state;
    ddp_progress_start(&p, &now);
    step(&p, &now, 1, 5);
    assert_number_equal(ddp_progress_communication(&p), 1);
}

static void darknets_own_lines_are_read(void **state)
{
    ddp_progress_figures f;

    (void)state;
    assert_true(ddp_progress_read(
        &f, "120: 1.690192, 2.306286 avg, 0.005000 rate, 0.375473 seconds, 1600 images"));
    assert_number_equal(f.loss, 1.690192);
    assert_number_equal(f.average_loss, 2.306286);
    assert_number_equal(f.rate, 0.005);
    assert_true(ddp_progress_read(
        &f, "120, 3.500: 0.5, 0.25 avg, 0.1 rate, 0.375473 seconds, 1600 images"));
    assert_number_equal(f.loss, 0.5);
    assert_number_equal(f.average_loss, 0.25);
    assert_number_equal(f.rate, 0.1);
    assert_false(ddp_progress_read(&f, "Resizing"));
    assert_false(ddp_progress_read(&f, "12: gen: 0.1, adv: 0.2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(even_steps_have_their_own_speed),
        cmocka_unit_test(a_loader_that_holds_training_up_is_said),
        cmocka_unit_test(one_slow_step_moves_the_speed_a_little_and_many_all_of_it),
        cmocka_unit_test(what_is_not_known_is_left_out),
        cmocka_unit_test(communication_that_a_gpu_tells_late_is_no_more_than_the_step),
        cmocka_unit_test(darknets_own_lines_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
