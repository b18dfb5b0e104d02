/* ddp-test: quick */
/* Anchors from boxes: clusters among the boxes are found, whatever the seed. */
#include "../unit/numbers.h"

#include <layers/images/anchors.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CLUSTERS = 4, EACH = 40, BOXES = CLUSTERS * EACH };

static const float centres[CLUSTERS][2] = {{10, 12}, {60, 20}, {25, 90}, {150, 160}};

/* About the centres, up to a tenth away, mixed. */
static void make_boxes(float *boxes)
{
    for (int i = 0; i < BOXES; i++)
        for (int side = 0; side < 2; side++)
            boxes[2 * i + side] = centres[i % CLUSTERS][side]
                                  * (0.9F + 0.2F * (float)((i * 37 + side * 11) % 100) / 100);
}

static double overlap(const float *a, const float *b)
{
    double both = fmin((double)a[0], (double)b[0]) * fmin((double)a[1], (double)b[1]);

    return both / ((double)a[0] * (double)a[1] + (double)b[0] * (double)b[1] - both);
}

static double mean_overlap(const float *boxes, const float *anchors, int k)
{
    double sum = 0;

    for (int i = 0; i < BOXES; i++) {
        double best = 0;

        for (int a = 0; a < k; a++)
            best = fmax(best, overlap(boxes + 2 * i, anchors + 2 * a));
        sum += best;
    }
    return sum / BOXES;
}

static void clusters_are_found(void **state)
{
    float boxes[2 * BOXES];
    float anchors[2 * CLUSTERS];

    (void)state;
    make_boxes(boxes);
    for (unsigned seed = 0; seed < 20; seed++) {
        double mean = find_anchors(boxes, BOXES, CLUSTERS, seed, anchors);

        assert_near(mean, mean_overlap(boxes, anchors, CLUSTERS), 1e-6);
        assert_greater(mean, 0.85);
        for (int a = 0; a < CLUSTERS; a++) { /* smallest area first, as centres are */
            assert_near(anchors[2 * a] / centres[a][0], 1, 0.05F);
            assert_near(anchors[2 * a + 1] / centres[a][1], 1, 0.05F);
        }
    }
}

static void more_anchors_fit_better(void **state)
{
    float boxes[2 * BOXES];
    float anchors[2 * 9];
    double before = 0;

    (void)state;
    make_boxes(boxes);
    for (int k = 1; k <= 9; k++) {
        double mean = find_anchors(boxes, BOXES, k, 1, anchors);

        assert_greater(mean, before);
        before = mean;
    }
}

static void the_seed_decides(void **state)
{
    float boxes[2 * BOXES];
    float first[2 * 7];
    float again[2 * 7];

    (void)state;
    make_boxes(boxes);
    (void)find_anchors(boxes, BOXES, 7, 5, first);
    (void)find_anchors(boxes, BOXES, 7, 5, again);
    assert_memory_equal(first, again, sizeof first);
}

static void as_many_anchors_as_boxes_fit_all(void **state)
{
    static const float boxes[] = {4, 5, 10, 8, 30, 60};
    float anchors[6];

    (void)state;
    assert_greater(find_anchors(boxes, 3, 3, 1, anchors), 0.9999);
    assert_memory_equal(anchors, boxes, sizeof boxes);
}

static void a_letter_box_has_the_picture_s_aspect(void **state)
{
    static const struct {
        int w, h, input[2];
        float shares[2];
    } cases[] = {{640, 480, {416, 416}, {1, 0.75F}}, {480, 640, {416, 416}, {0.75F, 1}},
                 {64, 32, {64, 32}, {1, 1}},         {32, 32, {64, 32}, {0.5F, 1}},
                 {0, 0, {416, 416}, {1, 1}},         {640, 480, {0, 0}, {1, 1}}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float shares[2];

        letter_box_shares(cases[i].w, cases[i].h, cases[i].input, shares);
        for (int side = 0; side < 2; side++)
            assert_near((double)shares[side], (double)cases[i].shares[side], 1e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters_are_found),
        cmocka_unit_test(more_anchors_fit_better),
        cmocka_unit_test(the_seed_decides),
        cmocka_unit_test(as_many_anchors_as_boxes_fit_all),
        cmocka_unit_test(a_letter_box_has_the_picture_s_aspect),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
