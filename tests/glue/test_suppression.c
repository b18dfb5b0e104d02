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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kind_says_what_stays),
        cmocka_unit_test(a_square_within_another_goes),
        cmocka_unit_test(the_overlap_less_a_power_of_the_distance),
    };

    return cmocka_run_group_tests_name("suppression", tests, NULL, NULL);
}
