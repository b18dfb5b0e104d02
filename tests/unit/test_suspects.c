/* ddp-test: quick */
/* The ranking of labels that are likely wrong: eval/suspects.c. */
#include "eval/suspects.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the above. */
#include <cmocka.h>

enum { PICTURES = 40 };

/* Rank 40 pictures of one label and one sure find each: the find is at its label, but in picture 7
 * it lies `shift` of a width beside it. Returns the kinds of picture 7's suspects, as bits. */
static unsigned kinds_of_shift(double shift)
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
    (void)state;
    assert_int_equal(kinds_of_shift(.5), 1U << DDP_SUSPECT_PLACE);
    assert_int_equal(kinds_of_shift(.6), 1U << DDP_SUSPECT_MISSING | 1U << DDP_SUSPECT_EXTRA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_find_far_from_a_label_is_another_thing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
