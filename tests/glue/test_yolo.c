/* ddp-test: quick */
/* [yolo] with the mathematics of the forks that have YOLOv4: what each key changes of the deltas
 * and of the cost, by hand, on a layer of 2 x 2 cells with two anchors and two classes. */
#include <darknet.h>
#include <layers/heads/yolo_v4.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <yolo_layer.h>

#include <cmocka.h>

#include "../unit/numbers.h"
#include "net.h"

enum { CELLS = 4, ENTRIES = 4 + 1 + 2, ANCHORS = 2, SIDE = 64 };
enum { X, Y, W, H, OBJECT, CLASS };

/* Anchors of 16 x 16 and 32 x 16 of 64 pixels: 0.25 x 0.25 and 0.5 x 0.25 of the picture. */
static network *parse(const char *before, const char *keys)
{
    char cfg[1024];

    (void)snprintf(
        cfg, sizeof cfg,
        "[net]\nbatch=1\nheight=%d\nwidth=%d\nchannels=3\nlearning_rate=.1\nmax_batches=1\n%s"
        "[maxpool]\nsize=32\nstride=32\npadding=0\n"
        "[convolutional]\nfilters=14\nsize=1\nstride=1\nactivation=linear\n"
        "[yolo]\nclasses=2\nnum=2\nmask=0,1\nanchors=16,16,32,16\nignore_thresh=.5\n%s\n",
        SIDE, SIDE, before, keys);
    return net_parse(cfg);
}

/* Entry of an anchor of a cell, in the layer's outputs and deltas. */
static int at(int anchor, int cell, int entry)
{
    return (anchor * ENTRIES + entry) * CELLS + cell;
}

static double logistic(double t)
{
    return 1 / (1 + exp(-t));
}

/* Return the input: every number another, none large. */
static double in(int anchor, int cell, int entry)
{
    return 0.35 * sin(1 + anchor * 31 + cell * 7 + entry * 3);
}

/* A run of the layer: its network is freed at once, its numbers stay. */
static float output[ANCHORS * ENTRIES * CELLS];
static float delta[ANCHORS * ENTRIES * CELLS];
static float passed[ANCHORS * ENTRIES * CELLS];
static double cost;

static float *inputs_of(network *net, const float *raw)
{
    float *input = net->layers[1].output;

    for (int a = 0; a < ANCHORS; a++)
        for (int c = 0; c < CELLS; c++)
            for (int e = 0; e < ENTRIES; e++)
                input[at(a, c, e)] = raw ? raw[at(a, c, e)] : (float)in(a, c, e);
    return input;
}

/* truth: count boxes of five numbers. raw: what comes in, or NULL for in(). */
static void run_raw(const char *before, const char *keys, const float *truth, int count,
                    const float *raw)
{
    network *net = parse(before, keys);
    layer l = net->layers[2];

    net->train = 1;
    net->index = 2;
    net->input = inputs_of(net, raw);
    net->delta = net->layers[1].delta;
    memset(net->truth, 0, sizeof(float) * (size_t)net->truths);
    memcpy(net->truth, truth, sizeof(float) * (size_t)count * 5);
    memset(net->delta, 0, sizeof passed);
    forward_yolo_layer(l, *net);
    backward_yolo_layer(l, *net);
    memcpy(output, l.output, sizeof output);
    memcpy(delta, l.delta, sizeof delta);
    memcpy(passed, net->delta, sizeof passed);
    cost = *l.cost;
}

static void run(const char *keys, const float *truth, int count)
{
    run_raw("yolo_math=v4\n", keys, truth, count, NULL);
}

static void near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 2e-5 * (1 + fabs(wanted))))
        fail_msg("%.8g, and should be %.8g", got, wanted);
}

/* In cell 1 (right, top), of anchor 0's size, class 1. */
static const float one[] = {0.8f, 0.3f, 0.2f, 0.26f, 1};
enum { CELL = 1 };

/* ---- tests ---- */

static void boxes_are_trained_by_squared_differences(void **state)
{
    double scale = (2 - 0.2 * 0.26) * 0.75;

    (void)state;
    run("", one, 1);
    near(delta[at(0, CELL, X)], scale * (0.8 * 2 - 1 - logistic(in(0, CELL, X))));
    near(delta[at(0, CELL, Y)], scale * (0.3 * 2 - logistic(in(0, CELL, Y))));
    near(delta[at(0, CELL, W)], scale * (log(0.2 / 0.25) - in(0, CELL, W)));
    near(delta[at(0, CELL, H)], scale * (log(0.26 / 0.25) - in(0, CELL, H)));
    near(delta[at(0, CELL, OBJECT)], 1 - logistic(in(0, CELL, OBJECT)));
    near(delta[at(0, CELL, CLASS)], -logistic(in(0, CELL, CLASS)));
    near(delta[at(0, CELL, CLASS + 1)], 1 - logistic(in(0, CELL, CLASS + 1)));
    near(delta[at(1, CELL, OBJECT)], -logistic(in(1, CELL, OBJECT)));
    near(delta[at(1, CELL, X)], 0);
}

static void the_cost_of_mse_is_all_squares(void **state)
{
    double sum = 0;

    (void)state;
    run("iou_normalizer=2", one, 1);
    for (size_t i = 0; i < sizeof delta / sizeof *delta; i++)
        sum += (double)delta[i] * (double)delta[i];
    near(cost, sum);
}

static double overlap_with_one(void)
{
    box truth = {one[0], one[1], one[2], one[3]};
    box pred = {.x = (float)((1 + logistic(in(0, CELL, X))) / 2),
                .y = (float)(logistic(in(0, CELL, Y)) / 2),
                .w = (float)(exp(in(0, CELL, W)) * 0.25),
                .h = (float)(exp(in(0, CELL, H)) * 0.25)};

    return box_iou(pred, truth);
}

static void the_cost_of_ciou_is_the_iou_and_the_other_squares(void **state)
{
    double sum = 0;

    (void)state;
    run("iou_loss=ciou\niou_normalizer=.07\nobj_normalizer=.4", one, 1);
    for (int a = 0; a < ANCHORS; a++)
        for (int c = 0; c < CELLS; c++)
            for (int e = OBJECT; e < ENTRIES; e++)
                sum += (double)delta[at(a, c, e)] * (double)delta[at(a, c, e)];
    near(cost, 0.07 * (1 - overlap_with_one()) + 0.4 * sum);
}

static void scale_x_y_stretches_the_middle(void **state)
{
    double s = 1.2;
    double x = logistic(in(0, CELL, X)) * s - (s - 1) / 2;

    (void)state;
    run("scale_x_y=1.2", one, 1);
    near(output[at(0, CELL, X)], x);
    near(output[at(0, CELL, W)], in(0, CELL, W));
    near(delta[at(0, CELL, X)], (2 - 0.2 * 0.26) * 0.75 * (0.8 * 2 - 1 - x));
}

static void new_coords_take_numbers_as_they_come(void **state)
{
    float raw[ANCHORS * ENTRIES * CELLS];

    (void)state;
    for (size_t i = 0; i < sizeof raw / sizeof *raw; i++)
        raw[i] = (float)(0.3 + 0.4 * (double)(i % 7) / 7);
    run_raw("", "new_coords=1\niou_normalizer=1\nscale_x_y=2", one, 1, raw);
    near(output[at(0, CELL, OBJECT)], raw[at(0, CELL, OBJECT)]);
    near(output[at(0, CELL, X)], 2 * (double)raw[at(0, CELL, X)] - 0.5);
    near(delta[at(0, CELL, W)],
         (2 - 0.2 * 0.26) * (sqrt(0.2 / 0.25 / 4) - (double)raw[at(0, CELL, W)]));
}

static void iou_thresh_trains_further_anchors(void **state)
{
    (void)state;
    /* Anchor 1 overlaps the truth by 0.2 x 0.25 of 0.2 x 0.26 + 0.5 x 0.25 - 0.05 = 0.394. */
    run("iou_thresh=.39", one, 1);
    near(delta[at(1, CELL, OBJECT)], 1 - logistic(in(1, CELL, OBJECT)));
    assert_true(delta[at(1, CELL, X)] != 0);
    run("iou_thresh=.4", one, 1);
    near(delta[at(1, CELL, OBJECT)], -logistic(in(1, CELL, OBJECT)));
    assert_number_equal(delta[at(1, CELL, X)], 0);
}

static void truths_at_one_place_add_up(void **state)
{
    static const float two[] = {0.8f, 0.3f, 0.2f, 0.26f, 1, 0.7f, 0.2f, 0.2f, 0.26f, 0};
    double first;

    (void)state;
    run("", one, 1);
    first = delta[at(0, CELL, X)];
    run("", two + 5, 1);
    first += (double)delta[at(0, CELL, X)];
    run("", two, 2);
    near(delta[at(0, CELL, X)], first);
    near(delta[at(0, CELL, CLASS)], 1 - logistic(in(0, CELL, CLASS)));
    near(delta[at(0, CELL, CLASS + 1)], 1 - logistic(in(0, CELL, CLASS + 1)));
    run("iou_thresh=.99", two, 2); /* two classes: their mean */
    near(delta[at(0, CELL, X)], first / 2);
}

static void labels_are_smoothed(void **state)
{
    (void)state;
    run("label_smooth_eps=.1", one, 1);
    near(delta[at(0, CELL, CLASS)], 0.05 - logistic(in(0, CELL, CLASS)));
    near(delta[at(0, CELL, CLASS + 1)], 0.95 - logistic(in(0, CELL, CLASS + 1)));
}

static void rare_classes_weigh_more(void **state)
{
    (void)state;
    run("counters_per_class=30,10\ncls_normalizer=.5", one, 1);
    near(delta[at(0, CELL, CLASS + 1)], 3 * 0.5 * (1 - logistic(in(0, CELL, CLASS + 1))));
    near(delta[at(0, CELL, CLASS)], -logistic(in(0, CELL, CLASS)));
    near(delta[at(0, CELL, OBJECT)], 3 * (1 - logistic(in(0, CELL, OBJECT))));
    near(delta[at(0, CELL, X)], 3 * (2 - 0.2 * 0.26) * 0.75 * (0.6 - logistic(in(0, CELL, X))));
    run("counters_per_class=30,10\nmax_delta=2", one, 1);
    near(delta[at(0, CELL, OBJECT)], 2 * (1 - logistic(in(0, CELL, OBJECT))));
}

static void max_delta_limits_the_box(void **state)
{
    (void)state;
    run("iou_loss=diou\niou_normalizer=1000\nmax_delta=3", one, 1);
    for (int e = X; e <= H; e++)
        near(fabsf(delta[at(0, CELL, e)]), 3);
}

/* Predictions right over the truth, where nothing was given to: anchor 1 of the same cell. */
static void over_one(float *raw, double class)
{
    for (size_t i = 0; i < ANCHORS * ENTRIES * CELLS; i++)
        raw[i] = -4;
    raw[at(1, CELL, X)] = (float)log(0.6 / 0.4);
    raw[at(1, CELL, Y)] = (float)log(0.6 / 0.4);
    raw[at(1, CELL, W)] = (float)log(0.2 / 0.5);
    raw[at(1, CELL, H)] = (float)log(0.26 / 0.25);
    raw[at(1, CELL, OBJECT)] = 0;
    raw[at(1, CELL, CLASS)] = (float)class;
}

static void good_predictions_are_let_be_only_with_a_class(void **state)
{
    float raw[ANCHORS * ENTRIES * CELLS];

    (void)state;
    over_one(raw, 0);
    run_raw("yolo_math=v4\n", "", one, 1, raw);
    near(delta[at(1, CELL, OBJECT)], 0);
    run_raw("yolo_math=v4\n", "objectness_smooth=1", one, 1, raw);
    near(delta[at(1, CELL, OBJECT)], 0.5); /* its iou, 1, less what it says */
    over_one(raw, -4);
    run_raw("yolo_math=v4\n", "", one, 1, raw);
    near(delta[at(1, CELL, OBJECT)], -0.5);
}

static void truth_thresh_trains_what_is_right(void **state)
{
    float raw[ANCHORS * ENTRIES * CELLS];

    (void)state;
    over_one(raw, 0);
    run_raw("yolo_math=v4\n", "truth_thresh=.9", one, 1, raw);
    near(delta[at(1, CELL, OBJECT)], 0.5);
    near(delta[at(1, CELL, CLASS)], -0.5);
    near(delta[at(1, CELL, CLASS + 1)], 1 - logistic(-4));
}

/* A truth of this height in cell 1, and cell 0's first box with its middle on the truth's and twice
 * as high at .125: what that box's objectness is trained for. All of these numbers are exact. */
static float objectness_beside(const char *keys, float height)
{
    float raw[ANCHORS * ENTRIES * CELLS] = {0};
    const float truth[] = {.5f, .25f, .25f, height, 1};

    raw[at(0, 0, X)] = 40; /* 1 after logistic() */
    run_raw("yolo_math=v4\n", keys, truth, 1, raw);
    return delta[at(0, 0, OBJECT)];
}

/* ignore_thresh=.5 is a bound that has to be exceeded, as truth_thresh is. */
static void an_overlap_of_just_ignore_thresh_is_not_above_it(void **state)
{
    const float step = 1.f / (1 << 24); /* moves each edge by one unit in the last place */

    (void)state;
    assert_true(objectness_beside("", .125f) == -.5f);
    assert_true(objectness_beside("", .125f - step) == -.5f);
    assert_true(objectness_beside("", .125f + step) == 0);
    assert_true(objectness_beside("truth_thresh=.5", .125f) == -.5f);
    assert_true(objectness_beside("truth_thresh=.5", .125f + step) == .5f);
}

static void delta_normalizer_scales_what_is_passed_back(void **state)
{
    (void)state;
    run("delta_normalizer=.25", one, 1);
    for (size_t i = 0; i < sizeof delta / sizeof *delta; i++)
        near(passed[i], 0.25 * (double)delta[i]);
}

/* The exponentials of a size are infinite and 0: that box overlaps nothing, and the cost stays a
 * number. */
static void boxes_without_bound_cost_a_number(void **state)
{
    float raw[ANCHORS * ENTRIES * CELLS] = {0};

    (void)state;
    raw[at(0, CELL, W)] = 200;
    raw[at(0, CELL, H)] = -200;
    run_raw("", "iou_loss=ciou\niou_normalizer=1", one, 1, raw);
    assert_greater(cost, 1);
    assert_less(cost, 10);
    for (int e = X; e <= H; e++)
        assert_near(delta[at(0, CELL, e)], 0, 1e30F);
}

static void without_a_key_nothing_is_the_forks(void **state)
{
    network *v3 = parse("", "");
    network *v4 = parse("", "max_delta=5");

    (void)state;
    assert_int_equal(v3->layers[2].yolo.v4, 0);
    assert_int_equal(v3->layers[2].max_boxes, 90);
    assert_int_equal(v4->layers[2].yolo.v4, 1);
    assert_int_equal(v4->layers[2].max_boxes, 200);
    run_raw("", "", one, 1, NULL);
    near(delta[at(0, CELL, X)],
         (2 - 0.2 * 0.26) * (0.6 - logistic(in(0, CELL, X)))); /* no iou_normalizer */
    free_network(v3);
    free_network(v4);
}

static network *parse_region(const char *before)
{
    char cfg[1024];

    (void)snprintf(
        cfg, sizeof cfg,
        "[net]\nbatch=1\nheight=%d\nwidth=%d\nchannels=3\nlearning_rate=.1\nmax_batches=1\n%s"
        "[maxpool]\nsize=32\nstride=32\npadding=0\n"
        "[convolutional]\nfilters=14\nsize=1\nstride=1\nactivation=linear\n"
        "[region]\nclasses=2\ncoords=4\nnum=2\nanchors=.5,.5,1,.5\n",
        SIDE, SIDE, before);
    return net_parse(cfg);
}

/* Where [region] sees the middle of cell 0's first box in a picture twice as wide as high. */
static box region_box(const char *before)
{
    network *net = parse_region(before);
    detection *found;
    box middle;
    int count;

    set_batch_network(net, 1);
    memset(net->layers[2].output, 0, sizeof output);
    found = get_network_boxes(net, 2 * SIDE, SIDE, 0, 0, NULL, 1, &count);
    assert_int_equal(count, ANCHORS * CELLS);
    middle = found[0].bbox;
    free_detections(found, count);
    free_network(net);
    return middle;
}

/* Stretched pictures fill the network's input, in a letter box they fill half of this one. */
static void a_regions_boxes_lie_in_the_picture_as_it_was_put_in(void **state)
{
    box stretched = region_box("yolo_math=v4\n");
    box boxed = region_box("yolo_math=v4\nletter_box=1\n"), v3 = region_box("");

    (void)state;
    near(stretched.y, 0);
    near(stretched.h, .25);
    near(boxed.y, -.5);
    near(boxed.h, .5);
    assert_memory_equal(&boxed, &v3, sizeof v3);
}

/* Boxes are computed as by the forks: in double precision, and rounded once. A prediction whose
 * overlap lies at ignore_thresh is then on the same side of it in both programs. */
static void a_box_is_rounded_once(void **state)
{
    network *net = parse("yolo_math=v4\n", "");
    layer l = net->layers[2];
    float x[4 * CELLS] = {0};

    (void)state;
    for (int i = -400; i <= 400; i++) {
        float t = (float)i / 97;
        box b;

        x[2 * CELLS] = x[3 * CELLS] = t;
        b = yolo_v4_box(l, x, 1, 0, 0, 96, 72);
        assert_true(b.w == (float)(exp((double)t) * 32 / 96));
        assert_true(b.h == (float)(exp((double)t) * 16 / 72));
    }
    free_network(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_are_trained_by_squared_differences),
        cmocka_unit_test(the_cost_of_mse_is_all_squares),
        cmocka_unit_test(the_cost_of_ciou_is_the_iou_and_the_other_squares),
        cmocka_unit_test(a_box_is_rounded_once),
        cmocka_unit_test(scale_x_y_stretches_the_middle),
        cmocka_unit_test(new_coords_take_numbers_as_they_come),
        cmocka_unit_test(iou_thresh_trains_further_anchors),
        cmocka_unit_test(truths_at_one_place_add_up),
        cmocka_unit_test(labels_are_smoothed),
        cmocka_unit_test(rare_classes_weigh_more),
        cmocka_unit_test(max_delta_limits_the_box),
        cmocka_unit_test(good_predictions_are_let_be_only_with_a_class),
        cmocka_unit_test(truth_thresh_trains_what_is_right),
        cmocka_unit_test(an_overlap_of_just_ignore_thresh_is_not_above_it),
        cmocka_unit_test(delta_normalizer_scales_what_is_passed_back),
        cmocka_unit_test(boxes_without_bound_cost_a_number),
        cmocka_unit_test(without_a_key_nothing_is_the_forks),
        cmocka_unit_test(a_regions_boxes_lie_in_the_picture_as_it_was_put_in),
    };

    gpu_index = -1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
