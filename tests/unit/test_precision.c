/* ddp-test: quick */
/* Average precision, against the numbers of COCO's own code (tests/python/coco_reference.py makes
 * the same boxes and prints them), and what follows from the definition by hand. */
#include "eval/precision.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { PICTURES = 40, CLASSES = 5, MOST = 4096 };

struct boxes {
    ddp_truth truths[MOST];
    ddp_detection found[MOST];
    size_t truth_count, found_count;
};

/* SplitMix64 */
static unsigned below(uint64_t *state, unsigned n)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (unsigned)((z ^ z >> 31) % n);
}

static ddp_box draw_box(uint64_t *s, unsigned least)
{
    ddp_box box;

    box.left = below(s, 400);
    box.top = below(s, 400);
    box.width = least + below(s, 200);
    box.height = least + below(s, 200);
    return box;
}

static ddp_box move_box(uint64_t *s, ddp_box box)
{
    box.left += (double)below(s, 21) - 10;
    box.top += (double)below(s, 21) - 10;
    box.width += (double)below(s, 21) - 10;
    box.height += (double)below(s, 21) - 10;
    box.width = box.width < 1 ? 1 : box.width;
    box.height = box.height < 1 ? 1 : box.height;
    return box;
}

static void add_near(struct boxes *b, uint64_t *s, const ddp_truth *truth)
{
    ddp_detection *d = &b->found[b->found_count++];

    *d = (ddp_detection){.picture = truth->picture, .class_id = truth->class_id};
    d->box = move_box(s, truth->box);
    if (below(s, 10) == 0)
        d->class_id = (int32_t)below(s, CLASSES);
    d->score = below(s, 100) / 100.0;
}

static void add_anywhere(struct boxes *b, uint64_t *s, uint32_t picture, int class_id)
{
    ddp_detection *d = &b->found[b->found_count++];

    d->picture = picture;
    d->class_id = class_id < 0 ? (int32_t)below(s, CLASSES) : class_id;
    d->score = below(s, 100) / 100.0;
    d->box = draw_box(s, 1);
}

/* Class 4 has detections only, and picture 0 more than COCO counts. */
static void make(struct boxes *b, uint64_t s)
{
    memset(b, 0, sizeof *b);
    for (uint32_t picture = 0; picture < PICTURES; picture++) {
        unsigned n = below(&s, 8);

        for (unsigned i = 0; i < n; i++) {
            ddp_truth *t = &b->truths[b->truth_count++];
            unsigned near;

            t->picture = picture;
            t->box = draw_box(&s, 10);
            t->class_id = (int32_t)below(&s, CLASSES - 1);
            near = below(&s, 4);
            for (unsigned k = 0; k < near; k++)
                add_near(b, &s, t);
        }
        n = below(&s, 3);
        for (unsigned i = 0; i < n; i++)
            add_anywhere(b, &s, picture, -1);
    }
    for (int i = 0; i < 130; i++)
        add_anywhere(b, &s, 0, 0);
}

static void assert_near(double value, double expected, double most)
{
    if (!(fabs(value - expected) <= most))
        fail_msg("%.12f, expected %.12f", value, expected);
}

static const ddp_precision_config coco = {
    .classes = CLASSES, .recalls = DDP_RECALLS_COCO, .score = 0.25};

static void evaluate(ddp_precision *all, ddp_precision *each, const ddp_precision_config *config,
                     struct boxes *b)
{
    ddp_error err;

    if (ddp_precision_of(all, each, config, b->found, b->found_count, b->truths, b->truth_count,
                         &err))
        fail_msg("%s", err.text);
}

static void is_what_coco_says(void **state)
{
    static const double expected[3][3 + CLASSES] = {
        {0.169143383, 0.321058233, 0.183286023, 0.080394430, 0.175682514, 0.181420372, 0.239076215,
         -1},
        {0.167295109, 0.335680852, 0.151104547, 0.087589611, 0.110863623, 0.226976846, 0.243750355,
         -1},
        {0.196983413, 0.353516690, 0.189452658, 0.049608296, 0.175289278, 0.256205189, 0.306830889,
         -1},
    };
    struct boxes *b = malloc(sizeof *b);
    ddp_precision all, each[CLASSES];

    (void)state;
    assert_non_null(b);
    for (int seed = 0; seed < 3; seed++) {
        make(b, (uint64_t)seed + 1);
        evaluate(&all, each, &coco, b);
        assert_near(all.ap, expected[seed][0], 1e-8);
        assert_near(all.ap50, expected[seed][1], 1e-8);
        assert_near(all.ap75, expected[seed][2], 1e-8);
        for (int c = 0; c < CLASSES; c++)
            assert_near(each[c].ap, expected[seed][3 + c], 1e-8);
    }
    free(b);
}

/* Pictures may come in any order, as ranks deliver them: the same bits. */
static void order_of_pictures_changes_nothing(void **state)
{
    struct boxes *a = malloc(sizeof *a), *b = malloc(sizeof *b);
    ddp_precision all_a, all_b, each_a[CLASSES], each_b[CLASSES];
    size_t n = 0;

    (void)state;
    assert_true(a && b);
    make(a, 1);
    *b = *a;
    for (uint32_t picture = PICTURES; picture-- > 0;)
        for (size_t i = 0; i < a->found_count; i++)
            if (a->found[i].picture == picture)
                b->found[n++] = a->found[i];
    assert_int_equal(n, a->found_count);
    evaluate(&all_a, each_a, &coco, a);
    evaluate(&all_b, each_b, &coco, b);
    assert_memory_equal(&all_a, &all_b, sizeof all_a);
    assert_memory_equal(each_a, each_b, sizeof each_a);
    free(a);
    free(b);
}

/* Two truths; scores .9 hit, .8 miss, .7 hit: precision 1 up to recall .5, then 2/3. */
static void by_hand(void **state)
{
    const ddp_box left = {0, 0, 10, 10}, right = {100, 0, 10, 10}, nowhere = {50, 50, 5, 5};
    struct boxes *b = calloc(1, sizeof *b);
    ddp_precision_config voc = {.classes = 1, .recalls = DDP_RECALLS_VOC2007, .score = 0.75};
    ddp_precision all, each[1];

    (void)state;
    assert_non_null(b);
    b->truths[0] = (ddp_truth){.box = left};
    b->truths[1] = (ddp_truth){.box = right};
    b->found[0] = (ddp_detection){.score = .7, .box = right};
    b->found[1] = (ddp_detection){.score = .8, .box = nowhere};
    b->found[2] = (ddp_detection){.score = .9, .box = left};
    b->truth_count = 2;
    b->found_count = 3;
    evaluate(&all, each, &voc, b);
    assert_near(all.ap50, (6 * 1 + 5 * 2 / 3.) / 11, 1e-12);
    assert_near(all.ap, all.ap50, 1e-12); /* they overlap wholly */
    assert_int_equal(all.hits, 1);
    assert_int_equal(all.false_positives, 1);
    assert_near(all.precision, .5, 0);
    assert_near(all.recall, .5, 0);
    assert_near(all.mean_iou, .5, 0);
    free(b);
}

static void nothing_found_and_nothing_there(void **state)
{
    struct boxes *b = calloc(1, sizeof *b);
    ddp_precision all, each[CLASSES];

    (void)state;
    assert_non_null(b);
    evaluate(&all, each, &coco, b);
    assert_near(all.ap, -1, 0);
    b->truths[0] = (ddp_truth){.class_id = 2, .box = {0, 0, 1, 1}};
    b->truth_count = 1;
    evaluate(&all, each, &coco, b);
    assert_near(all.ap, 0, 0);
    assert_near(each[2].recall, 0, 0);
    assert_near(each[1].ap, -1, 0);
    free(b);
}

static void refuses_what_has_no_meaning(void **state)
{
    ddp_precision_config none = {.classes = 0, .recalls = DDP_RECALLS_COCO};
    ddp_precision all, each[1];
    ddp_error err;

    (void)state;
    assert_int_equal(ddp_precision_of(&all, each, &none, NULL, 0, NULL, 0, &err), DDP_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_what_coco_says),
        cmocka_unit_test(order_of_pictures_changes_nothing),
        cmocka_unit_test(by_hand),
        cmocka_unit_test(nothing_found_and_nothing_there),
        cmocka_unit_test(refuses_what_has_no_meaning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
