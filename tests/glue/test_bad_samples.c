/* ddp-test: quick */
/* Lines of a list that cannot be read, and what is loaded in their place. */
#include "samples/bad_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LINES = 8 };

static char names[LINES][8], *paths[LINES];

static ddp_bad_samples *open_for(uint64_t seed, int one_ends)
{
    ddp_bad_samples *b;
    ddp_error err;

    for (int i = 0; i < LINES; i++) {
        names[i][0] = (char)('a' + i);
        paths[i] = names[i];
    }
    if (ddp_bad_samples_open(&b, one_ends, &err))
        fail_msg("%s", err.text);
    ddp_bad_samples_set_seed(b, seed);
    ddp_bad_samples_set_list(b, paths, LINES);
    ddp_bad_samples_note_loaded(b, 0); /* what this thread has tried in an earlier test is over */
    return b;
}

static ddp_bad_samples *open_bad_samples(uint64_t seed)
{
    return open_for(seed, 0);
}

/* Return what to do next. */
static int next_of(ddp_bad_samples *b, const char *path, int can_be_blank)
{
    int next;

    free(ddp_bad_samples_note_unreadable(b, path, "why", can_be_blank, &next));
    return next;
}

/* Returns 1 where it is news. */
static int find(ddp_bad_samples *b, int line)
{
    int next;
    char *sentence = ddp_bad_samples_note_unreadable(b, paths[line], "why", 1, &next);
    int news = sentence != NULL;

    assert_int_equal(next, DDP_BAD_SAMPLE_AGAIN);
    free(sentence);
    return news;
}

static void good_lines_are_themselves(void **state)
{
    ddp_bad_samples *b = open_bad_samples(1);

    (void)state;
    for (size_t i = 0; i < LINES; i++)
        assert_int_equal(ddp_bad_samples_line_to_load(b, i, LINES), i);
    ddp_bad_samples_close(b);
}

static void a_line_is_news_once(void **state)
{
    ddp_bad_samples *b = open_bad_samples(1);

    (void)state;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 3; i++)
            assert_int_equal(find(b, (i * 3 + 2) % LINES), round == 0);
    ddp_bad_samples_close(b);
}

/* The line loaded instead does not depend on what is known of other lines, nor on the order in
 * which they were met. */
static void what_is_loaded_instead_is_a_matter_of_the_lines(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        ddp_bad_samples *one = open_bad_samples(seed), *two = open_bad_samples(seed);
        size_t line = 5;

        (void)find(one, 5);
        (void)find(one, 2);
        (void)find(one, 6);
        /* do as a loader that meets them one by one */
        while (line == 2 || line == 5 || line == 6) {
            (void)find(two, (int)line);
            line = ddp_bad_samples_line_to_load(two, 5, LINES);
        }
        assert_int_equal(ddp_bad_samples_line_to_load(one, 5, LINES), line);
        ddp_bad_samples_close(one);
        ddp_bad_samples_close(two);
    }
}

static void there_is_an_end_to_it(void **state)
{
    ddp_bad_samples *b = open_bad_samples(3);
    char other[] = "a";

    (void)state;
    for (int i = 0; i < LINES - 1; i++)
        assert_int_equal(find(b, i), 1);
    for (size_t i = 0; i < LINES; i++)
        assert_int_equal(ddp_bad_samples_line_to_load(b, i, LINES), LINES - 1);
    assert_int_equal(next_of(b, paths[LINES - 1], 0), DDP_BAD_SAMPLE_END);
    assert_int_equal(next_of(b, paths[LINES - 1], 1), DDP_BAD_SAMPLE_BLANK);
    assert_int_equal(next_of(b, other, 1), DDP_BAD_SAMPLE_END);
    assert_int_equal(next_of(b, NULL, 1), DDP_BAD_SAMPLE_END);
    ddp_bad_samples_note_loaded(b, 0);
    ddp_bad_samples_close(b);
}

/* Where each loader would read the whole list, to find that a disk is not there any more. */
static void not_all_are_tried_for_one_sample(void **state)
{
    ddp_bad_samples *b = open_bad_samples(3);
    int tries = 0;

    (void)state;
    while (next_of(b, paths[tries % 2], 1) == DDP_BAD_SAMPLE_AGAIN)
        assert_in_range(++tries, 1, 1000);
    assert_true(tries > LINES);
    ddp_bad_samples_note_loaded(b, 0);
    assert_int_equal(next_of(b, paths[0], 1), DDP_BAD_SAMPLE_AGAIN);
    ddp_bad_samples_note_loaded(b, 1);
    assert_int_equal(ddp_bad_samples_count_ending(b, 1), 1);
    assert_int_equal(ddp_bad_samples_count_ending(b, 10), 1);
    ddp_bad_samples_close(b);
}

/* Nothing is learnt from it, so that nothing has to be read in its place. */
static void a_sample_that_ends_the_run_is_blank(void **state)
{
    ddp_bad_samples *b = open_for(3, 1);

    (void)state;
    assert_int_equal(next_of(b, paths[2], 1), DDP_BAD_SAMPLE_BLANK);
    ddp_bad_samples_note_loaded(b, 7);
    assert_int_equal(next_of(b, paths[3], 0), DDP_BAD_SAMPLE_AGAIN);
    (void)ddp_bad_samples_line_to_load(b, 3, LINES);
    ddp_bad_samples_note_loaded(b, 8);
    ddp_bad_samples_note_loaded(b, 9); /* itself */
    assert_int_equal(ddp_bad_samples_count_ending(b, 7), 0);
    assert_int_equal(ddp_bad_samples_count_ending(b, 8), 1);
    assert_int_equal(ddp_bad_samples_count_ending(b, 10), 2);
    assert_int_equal(ddp_bad_samples_take_replaced(b, 10), 2);
    ddp_bad_samples_close(b);
}

static void samples_are_counted_once(void **state)
{
    ddp_bad_samples *b = open_bad_samples(1);

    (void)state;
    ddp_bad_samples_note_loaded(b, 3); /* itself */
    (void)find(b, 4);
    for (int twice = 0; twice < 2; twice++)
        for (size_t sample = 10; sample < 14; sample++) {
            (void)ddp_bad_samples_line_to_load(b, 4, LINES);
            ddp_bad_samples_note_loaded(b, sample);
        }
    assert_int_equal(ddp_bad_samples_take_replaced(b, 12), 2);
    assert_int_equal(ddp_bad_samples_take_replaced(b, 20), 2);
    assert_int_equal(ddp_bad_samples_take_replaced(b, 20), 0);
    ddp_bad_samples_close(b);
}

static void they_are_described_in_order(void **state)
{
    ddp_bad_samples *b = open_bad_samples(1);
    char *text;

    (void)state;
    (void)find(b, 6);
    (void)find(b, 1);
    text = ddp_bad_samples_describe(b);
    assert_string_equal(text,
                        "why (line 2 of the training list)\nwhy (line 7 of the training list)\n");
    free(text);
    ddp_bad_samples_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_lines_are_themselves),
        cmocka_unit_test(a_line_is_news_once),
        cmocka_unit_test(what_is_loaded_instead_is_a_matter_of_the_lines),
        cmocka_unit_test(there_is_an_end_to_it),
        cmocka_unit_test(not_all_are_tried_for_one_sample),
        cmocka_unit_test(a_sample_that_ends_the_run_is_blank),
        cmocka_unit_test(samples_are_counted_once),
        cmocka_unit_test(they_are_described_in_order),
    };

    return cmocka_run_group_tests_name("bad_data", tests, NULL, NULL);
}
