/* ddp-test: quick */
/* Which boxes stay beside better ones, by nms_kind= and beta_nms=: pairs of squares whose overlap
 * and distance are worked out by hand.
 *
 * Two squares of side 0.4, the second to the right by d, overlap by (0.4 - d)*0.4, so their IoU is
 * (0.4 - d) / (0.4 + d). The middles are d apart, the corners of the box around both
 * sqrt((0.4 + d)^2 + 0.4^2). Where the IoU less a power of the quotient of these lengths' squares
 * is over 0.45, the worse one goes.
 *
 *      d    IoU    quotient   less its 0.6th power   less itself   less its square
 *   0.10   0.6     0.02439    0.4923                 0.5756        0.5994
 *   0.14   0.4815  0.04340    0.3293                 0.4381        0.4796
 *   0.16   0.4286
 *
 * Hundreds of boxes are compared with what the rule leaves, written down as simply as can be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net.h"

#include <layers/heads/iou.h>
#include <math.h>

#define MOST .45F

enum { CLASSES = 2 };

static network *parse(const char *keys)
{
    char cfg[512];

    (void)snprintf(cfg, sizeof cfg,
                   "[net]\nwidth=32\nheight=32\nchannels=7\n"
                   "[yolo]\nmask=0\nanchors=12,12\nclasses=2\nnum=1\n%s",
                   keys);
    return net_parse(cfg);
}

/* Is the worse of two boxes still there? Its other class's score, which is the better one's, is. */
static int stays(network *net, box better, box worse)
{
    float first[CLASSES] = {.9F, .2F}, second[CLASSES] = {.8F, .3F};
    detection dets[2] = {{.bbox = worse, .classes = CLASSES, .prob = second, .objectness = .8F},
                         {.bbox = better, .classes = CLASSES, .prob = first, .objectness = .9F}};
    int lost;

    suppress_boxes(net, dets, 2, CLASSES, MOST);
    assert_true(first[0] == .9F && second[1] == .3F);
    lost = second[0] == 0;
    assert_int_equal(lost, first[1] == 0);
    return !lost;
}

static const box square = {.x = .4F, .y = .5F, .w = .4F, .h = .4F};

static box moved(float by)
{
    return (box){square.x + by, square.y, square.w, square.h};
}

struct row {
    const char *keys;
    int near, far; /* does a square stay that is 0.1, 0.14 away? */
};

static void the_kind_says_what_stays(void **state)
{
    static const struct row rows[] = {
        {"", 0, 0},
        {"nms_kind=default\n", 0, 0},
        {"nms_kind=cornersnms\n", 0, 0},
        {"nms_kind=greedynms\nbeta_nms=0.6\n", 0, 1},
        {"nms_kind=greedynms\nbeta_nms=2\n", 0, 1}, /* which it does not read */
        {"nms_kind=diounms\n", 0, 1},               /* 0.6 */
        {"nms_kind=diounms\nbeta_nms=1\n", 0, 1},
        {"nms_kind=diounms\nbeta_nms=2\n", 0, 0},
        {"nms_kind=diounms\nbeta_nms=0.2\n", 1, 1}, /* 0.6 - 0.4758, 0.4815 - 0.5339 */
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        network *net = parse(rows[i].keys);

        if (stays(net, square, moved(.1F)) != rows[i].near)
            fail_msg("%s: a square 0.1 away %s", rows[i].keys, rows[i].near ? "goes" : "stays");
        if (stays(net, square, moved(.14F)) != rows[i].far)
            fail_msg("%s: a square 0.14 away %s", rows[i].keys, rows[i].far ? "goes" : "stays");
        assert_int_equal(stays(net, square, moved(.16F)), 1);
        free_network(net);
    }
}

/* Middles that lie on each other: the overlap alone counts, 0.3^2 / 0.4^2 = 0.5625. */
static void a_square_within_another_goes(void **state)
{
    static const char *const kinds[] = {"", "nms_kind=greedynms\n",
                                        "nms_kind=diounms\nbeta_nms=0.1\n"};
    const box inner = {.x = square.x, .y = square.y, .w = .3F, .h = .3F};

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        network *net = parse(kinds[i]);

        assert_int_equal(stays(net, square, inner), 0);
        free_network(net);
    }
}

static void near(float got, double wanted)
{
    if (!(fabs((double)got - wanted) < 5e-5))
        fail_msg("%.6f and not %.4f", (double)got, wanted);
}

static void the_overlap_less_a_power_of_the_distance(void **state)
{
    (void)state;
    near(box_less_distance(square, moved(.1F), .6F), .4923);
    near(box_less_distance(square, moved(.1F), 1), .5756);
    near(box_less_distance(square, moved(.1F), 2), .5994);
    near(box_less_distance(square, moved(.14F), .6F), .3293);
    near(box_less_distance(square, moved(.14F), 1), .4381);
    near(box_less_distance(square, moved(.14F), 2), .4796);
    near(box_less_distance(square, moved(1), .6F), -pow(1 / 2.12, .6)); /* apart: 1.4^2 + 0.4^2 */
}

/* ---- many boxes ---- */

enum { MANY = 600, SCORES = 3 };

static detection boxes[2][MANY];
static float scores[2][MANY][SCORES];

/* Fill both arrays alike with boxes that crowd. Many have no score in a class, some no objectness,
 * and scores repeat. */
static void draw_boxes(unsigned state)
{
    for (int i = 0; i < MANY; i++) {
        float drawn[4 + SCORES];

        for (int k = 0; k < 4 + SCORES; k++) {
            state = state * 1664525U + 1013904223U;
            drawn[k] = (float)(state >> 24) / 256;
        }
        for (int copy = 0; copy < 2; copy++) {
            boxes[copy][i] = (detection){.bbox = {drawn[0], drawn[1], drawn[2] / 2, drawn[3] / 2},
                                         .classes = SCORES,
                                         .prob = scores[copy][i],
                                         .objectness = drawn[0] < .1F ? 0 : 1,
                                         .sort_class = i};
            for (int k = 0; k < SCORES; k++)
                scores[copy][i][k] = drawn[4 + k] < .5F ? 0 : drawn[4 + k];
        }
    }
}

/* The rule, word by word: in each class the likeliest boxes come first, those of one score in the
 * order of the class before, and each that still has its score takes it from those behind it. */
static int suppress_by_rule(detection *dets, NMS_KIND kind, float beta)
{
    int total = MANY;

    for (int i = 0; i < total; i++)
        if (dets[i].objectness == 0) {
            detection d = dets[i];

            dets[i--] = dets[--total];
            dets[total] = d;
        }
    for (int k = 0; k < SCORES; k++) {
        for (int i = 1; i < total; i++)
            for (int j = i; j > 0 && dets[j].prob[k] > dets[j - 1].prob[k]; j--) {
                detection d = dets[j];

                dets[j] = dets[j - 1];
                dets[j - 1] = d;
            }
        for (int i = 0; i < total; i++)
            for (int j = i + 1; j < total && dets[i].prob[k] > 0; j++) {
                box a = dets[i].bbox, b = dets[j].bbox;

                if ((kind == NMS_PLAIN ? box_iou(a, b) : box_less_distance(a, b, beta)) > MOST)
                    dets[j].prob[k] = 0;
            }
    }
    return total;
}

static void many_boxes_go_by_the_rule(void **state)
{
    static const struct {
        NMS_KIND kind;
        float beta;
    } kinds[] = {{NMS_PLAIN, 0}, {NMS_GREEDY, .6F}, {NMS_DIOU, .3F}};

    (void)state;
    for (size_t n = 0; n < 3 * sizeof kinds / sizeof kinds[0]; n++) {
        NMS_KIND kind = kinds[n / 3].kind;
        int total, left = 0;

        draw_boxes((unsigned)n);
        total = suppress_by_rule(boxes[0], kind, kinds[n / 3].beta);
        do_nms_by(boxes[1], MANY, SCORES, MOST, kind, kinds[n / 3].beta);
        assert_in_range(total, MANY / 2, MANY - 1);
        for (int i = 0; i < total; i++) {
            assert_int_equal(boxes[1][i].sort_class, boxes[0][i].sort_class);
            assert_memory_equal(boxes[1][i].prob, boxes[0][i].prob, sizeof scores[0][0]);
            left += boxes[1][i].prob[0] > 0;
        }
        assert_in_range(left, 10, MANY / 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kind_says_what_stays),
        cmocka_unit_test(a_square_within_another_goes),
        cmocka_unit_test(the_overlap_less_a_power_of_the_distance),
        cmocka_unit_test(many_boxes_go_by_the_rule),
    };

    return cmocka_run_group_tests_name("suppression", tests, NULL, NULL);
}
