/* ddp-test: quick */
/* The ranking of labels that are likely wrong (eval/suspects.c), and the file of their losses in
 * training (eval/loss_file.c). */
#include "eval/loss_file.h"
#include "eval/suspects.h"
#include "folder.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
/* cmocka.h needs the above. */
#include <cmocka.h>

enum { PICTURES = 40 };

/* Rank 40 pictures of one label and one sure find each: the find is at its label, but in picture 7
 * it lies `shift` of a width beside it. Returns the kinds of picture 7's suspects, as bits, and
 * sets *found to how many labels are found. */
static unsigned kinds_of_shift(double shift, size_t *found_labels)
{
    ddp_suspects s = {.classes = 1, .views = 1};
    unsigned kinds = 0;

    for (uint32_t i = 0; i < PICTURES; i++) {
        const ddp_label_truth label = {.truth = {.picture = i, .box = {.4, .4, .2, .2}}, .line = 1};
        const ddp_detection found = {.score = .9,
                                     .box = {.4 + (i == 7 ? shift * .2 : 0), .4, .2, .2}};

        assert_int_equal(ddp_suspects_add(&s, i, &label, 1, &found, 1), 0);
    }
    ddp_suspects_rank(&s);
    *found_labels = s.found;
    assert_true(s.count > 0);
    for (size_t i = 0; i < s.count; i++)
        if (s.list[i].picture == 7)
            kinds |= 1U << s.list[i].kind;
    ddp_suspects_release(&s);
    return kinds;
}

/* Shifted by a half, two equal boxes have an IoU of 1/3; by 0.6, of 1/4. */
static void a_find_far_from_a_label_is_another_thing(void **state)
{
    size_t found;

    (void)state;
    assert_int_equal(kinds_of_shift(.5, &found), 1U << DDP_SUSPECT_PLACE);
    assert_int_equal(kinds_of_shift(.6, &found),
                     1U << DDP_SUSPECT_MISSING | 1U << DDP_SUSPECT_EXTRA);
    assert_int_equal(found, PICTURES - 1);
}

/* With an IoU of 1/2 the label is found in part, and the find is of its own: one mistake. */
static void a_find_and_the_label_that_it_covers_in_part_are_one_row(void **state)
{
    size_t found;

    (void)state;
    assert_int_equal(kinds_of_shift(1. / 3, &found), 1U << DDP_SUSPECT_PLACE);
    assert_int_equal(found, PICTURES);
}

static struct folder folder;

static const ddp_box here = {0, 0, 0.2, 0.2}, there = {0.5, 0.5, 0.2, 0.2},
                     corner = {0.8, 0, 0.2, 0.2};

/* Rank labels of one picture, all of which are found, class 0, with a score of 0.9. */
static ddp_suspects rank(const ddp_label_truth *labels, size_t count)
{
    ddp_suspects s = {.classes = 2, .views = 1};
    const ddp_detection found[] = {{0, 0, 0.9, here}, {0, 0, 0.9, there}, {0, 0, 0.9, corner}};

    assert_int_equal(ddp_suspects_add(&s, 0, labels, count, found, 3), 0);
    ddp_suspects_rank(&s);
    return s;
}

static void labels_rank_by_their_losses_whatever_is_found(void **state)
{
    const ddp_label_truth labels[] = {
        {{0, 0, here}, 1, 3}, {{0, 0, there}, 2, 7}, {{0, 0, corner}, 3, 5}};
    ddp_suspects s = rank(labels, 3);

    (void)state;
    assert_int_equal(s.count, 3);
    assert_int_equal(s.list[0].label.line, 2);
    assert_int_equal(s.list[1].label.line, 3);
    assert_int_equal(s.list[2].label.line, 1);
    for (size_t i = 0; i < 3; i++) {
        double odds = 0.002 * (exp(s.list[i].label.loss) - 1);

        assert_true(fabs(s.list[i].doubt - odds / (1 + odds)) < 1e-9);
    }
    ddp_suspects_release(&s);
}

static void a_small_loss_acquits_a_label_that_is_not_found(void **state)
{
    const ddp_label_truth unseen = {{0, 1, {0.2, 0.7, 0.1, 0.1}}, 1, 0};
    ddp_label_truth learnt = unseen;
    ddp_suspects s;

    (void)state;
    s = rank(&unseen, 1);
    assert_int_equal(s.list[0].kind, DDP_SUSPECT_EXTRA);
    assert_true(s.list[0].doubt > 0.02);
    ddp_suspects_release(&s);
    learnt.loss = 0.5;
    s = rank(&learnt, 1);
    for (size_t i = 0; i < s.count; i++)
        assert_int_equal(s.list[i].kind, DDP_SUSPECT_MISSING);
    ddp_suspects_release(&s);
}

static void two_labels_on_one_thing_stay_first(void **state)
{
    const ddp_label_truth labels[] = {
        {{0, 0, here}, 1, 0.1}, {{0, 0, here}, 2, 0.1}, {{0, 0, there}, 3, 15}};
    ddp_suspects s = rank(labels, 3);

    (void)state;
    assert_int_equal(s.list[0].kind, DDP_SUSPECT_TWICE);
    assert_true(s.list[0].doubt == 1);
    assert_int_equal(s.list[1].label.line, 3);
    ddp_suspects_release(&s);
}

static void a_file_of_losses_is_read_as_it_was_written(void **state)
{
    const ddp_loss_line lines[] = {
        {"b c.jpg", 1.5, 3, 12}, {"a.jpg", 0.123456789, 1, 1}, {"b c.jpg", 0.25, 7, 2}};
    const struct timespec younger[] = {{.tv_sec = time(NULL) + 9}, {.tv_sec = time(NULL) + 9}};
    const ddp_loss_line *of;
    char labels[4096], path[4096];
    ddp_loss_file f;
    ddp_error err;
    size_t count;
    FILE *out;

    (void)state;
    (void)snprintf(labels, sizeof labels, "%s", folder_file(&folder, "labels.txt"));
    (void)snprintf(path, sizeof path, "%s", folder_file(&folder, "x.losses"));
    assert_int_equal(close(open(labels, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)), 0);
    out = fopen(path, "we");
    ddp_loss_file_put_head(out);
    ddp_loss_file_put(out, &lines[0]);
    (void)fputs(
        "this is no loss\n\n-1 2 3 a.jpg\n1 2 3\ninf 2 3 a.jpg\n1 2 0 a.jpg\n1 2 -1 a.jpg\n", out);
    ddp_loss_file_put(out, &lines[1]);
    ddp_loss_file_put(out, &lines[2]);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(ddp_loss_file_read(&f, path, &err), DDP_OK);
    assert_int_equal(f.count, 3);
    of = ddp_loss_file_of(&f, "b c.jpg", labels, &count);
    assert_int_equal(count, 2);
    assert_true(of[0].line == 2 && of[0].mean == 0.25 && of[0].count == 7);
    assert_true(of[1].line == 12 && of[1].mean == 1.5 && of[1].count == 3);
    of = ddp_loss_file_of(&f, "a.jpg", labels, &count);
    assert_true(count == 1 && of[0].mean == 0.123456789);
    assert_null(ddp_loss_file_of(&f, "a.jp", labels, &count));
    assert_null(ddp_loss_file_of(&f, "a.jpg", folder_file(&folder, "none.txt"), &count));
    assert_int_equal(utimensat(AT_FDCWD, labels, younger, 0), 0);
    assert_null(ddp_loss_file_of(&f, "a.jpg", labels, &count));
    assert_int_equal(count, 0);
    ddp_loss_file_release(&f);
}

static void without_a_file_no_loss_is_known(void **state)
{
    ddp_loss_file f;
    ddp_error err;
    size_t count;

    (void)state;
    assert_int_equal(ddp_loss_file_read(&f, folder_file(&folder, "none.losses"), &err), DDP_OK);
    assert_int_equal(f.count, 0);
    assert_null(ddp_loss_file_of(&f, "a.jpg", "/", &count));
    ddp_loss_file_release(&f);
}

static int open_folder(void **state)
{
    (void)state;
    folder_open(&folder);
    return 0;
}

static int close_folder(void **state)
{
    (void)state;
    folder_close(&folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_find_far_from_a_label_is_another_thing),
        cmocka_unit_test(labels_rank_by_their_losses_whatever_is_found),
        cmocka_unit_test(a_small_loss_acquits_a_label_that_is_not_found),
        cmocka_unit_test(two_labels_on_one_thing_stay_first),
        cmocka_unit_test_setup_teardown(a_file_of_losses_is_read_as_it_was_written, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(without_a_file_no_loss_is_known, open_folder, close_folder),
        cmocka_unit_test(a_find_and_the_label_that_it_covers_in_part_are_one_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
