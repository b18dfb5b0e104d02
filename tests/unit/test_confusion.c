/* ddp-test: quick */
/* The confusion matrix: eval/confusion.c, on boxes whose matches are plain to see. */
#include "eval/confusion.h"
#include "numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { CLASSES = 2, SIDE = CLASSES + 1 };

static const ddp_box here = {0, 0, 1, 1}, there = {5, 5, 1, 1}, most_of_here = {0, 0, 1, 0.6},
                     little_of_here = {0, 0, 1, 0.4};

static void check(const ddp_detection *found, size_t count, const ddp_truth *truths,
                  size_t truth_count, const double *expected)
{
    double counts[SIDE * SIDE];
    ddp_error err;

    assert_int_equal(
        ddp_confusion_of(counts, CLASSES, 0.25, found, count, truths, truth_count, &err), DDP_OK);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++)
        assert_number_equal(counts[i], expected[i]);
}

static void a_box_of_another_class_is_a_confusion(void **state)
{
    const ddp_truth truths[] = {{0, 0, here}, {0, 1, there}};
    const ddp_detection found[] = {{0, 1, 0.9, here}, {0, 1, 0.8, there}};
    const double expected[] = {0, 1, 0, 0, 1, 0, 0, 0, 0};

    (void)state;
    check(found, 2, truths, 2, expected);
}

static void the_better_one_takes_the_truth_and_the_other_finds_nothing(void **state)
{
    const ddp_truth truths[] = {{0, 0, here}};
    const ddp_detection found[] = {{0, 1, 0.5, here}, {0, 0, 0.9, most_of_here}};
    const double expected[] = {1, 0, 0, 0, 0, 0, 0, 1, 0};

    (void)state;
    check(found, 2, truths, 1, expected);
}

static void too_little_overlap_a_low_score_and_another_picture_do_not_count(void **state)
{
    const ddp_truth truths[] = {{3, 0, here}, {4, 1, here}};
    const ddp_detection found[] = {
        {3, 0, 0.9, little_of_here}, {4, 1, 0.2, here}, {5, 1, 0.9, here}, {3, 7, 0.9, here}};
    const double expected[] = {0, 0, 1, 0, 0, 1, 1, 1, 0};

    (void)state;
    check(found, 4, truths, 2, expected);
}

static void nothing_found_and_nothing_there(void **state)
{
    const double expected[SIDE * SIDE] = {0};

    (void)state;
    check(NULL, 0, NULL, 0, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_of_another_class_is_a_confusion),
        cmocka_unit_test(the_better_one_takes_the_truth_and_the_other_finds_nothing),
        cmocka_unit_test(too_little_overlap_a_low_score_and_another_picture_do_not_count),
        cmocka_unit_test(nothing_found_and_nothing_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
