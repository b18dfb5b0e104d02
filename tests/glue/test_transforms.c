/* ddp-test: quick */
/* Pictures as training changes them for cfgs of the forks. A drawn one has a bright rectangle of
 * its class's colour on black, and a label that says where it is. Wherever it comes to lie, the box
 * of the truth is around it. */
#include "../unit/folder.h"
#include "../unit/numbers.h"

#include <darknet.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { PICTURES = 3, WIDE = 96, HIGH = 64, SAMPLES = 60, BOXES = 12 };

static char *paths[PICTURES];
static char *names[] = {"ant", "bee", "cow", NULL};

/* ---- the data set ---- */

/* Rectangle of picture i, in pixels of its own. */
typedef struct {
    int left, right, top, bottom;
} edges;

static const edges drawn[PICTURES] = {{100, 160, 40, 100}, {30, 90, 60, 140}, {120, 180, 20, 60}};
static const int width[PICTURES] = {240, 160, 200};
static const int height[PICTURES] = {160, 200, 120};

static void write_picture(int i)
{
    image im = make_image(width[i], height[i], 3);
    char path[32];

    for (int y = drawn[i].top; y < drawn[i].bottom; y++)
        for (int x = drawn[i].left; x < drawn[i].right; x++)
            im.data[(i * height[i] + y) * width[i] + x] = 1;
    (void)snprintf(path, sizeof path, "images/%s", names[i]);
    save_image_options(im, path, PNG, 0);
    free_image(im);
    (void)snprintf(path, sizeof path, "images/%s.png", names[i]);
    paths[i] = strdup(path);
}

static void write_label(const char *sub, int i)
{
    char path[32];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s.txt", sub, names[i]);
    file = fopen(path, "w");
    if (!file)
        fail_msg("cannot write %s: %s", path, strerror(errno));
    (void)fprintf(file, "%d %.6f %.6f %.6f %.6f\n", i,
                  (drawn[i].left + drawn[i].right) / 2.0 / width[i],
                  (drawn[i].top + drawn[i].bottom) / 2.0 / height[i],
                  (double)(drawn[i].right - drawn[i].left) / width[i],
                  (double)(drawn[i].bottom - drawn[i].top) / height[i]);
    (void)fclose(file);
}

/* One label under labels/, the others beside their pictures. */
static int make_data_set(void **state)
{
    (void)state;
    folder_enter();
    if (mkdir("images", 0700) || mkdir("labels", 0700))
        fail_msg("cannot make a folder: %s", strerror(errno));
    for (int i = 0; i < PICTURES; i++) {
        write_picture(i);
        write_label(i ? "images" : "labels", i);
    }
    return 0;
}

static int remove_data_set(void **state)
{
    (void)state;
    for (int i = 0; i < PICTURES; i++)
        free(paths[i]);
    folder_leave();
    return 0;
}

static data load(data_type type, picture_rules rules, int classes)
{
    data loaded = {0};
    load_args args = {
        .paths = paths,
        .labels = names,
        .n = SAMPLES,
        .m = PICTURES,
        .threads = 1,
        .classes = classes,
        .num_boxes = BOXES,
        .w = WIDE,
        .h = HIGH,
        .size = WIDE,
        .min = WIDE,
        .max = WIDE,
        .jitter = 0.2F,
        .hue = 0,
        .saturation = 1,
        .exposure = 1,
        .aspect = 1,
        .rules = rules,
        .type = type,
        .d = &loaded,
    };

    rules.forks = 1;
    args.rules = rules;
    assert_int_equal(pthread_join(load_data(args), NULL), 0);
    assert_int_equal(loaded.X.rows, SAMPLES);
    return loaded;
}

/* ---- where colours are, and where boxes say they are ---- */

/* Half bright at least, for mixed pictures less. */
static int is_bright(const float *picture, int class, int x, int y, float least)
{
    return picture[(class * HIGH + y) * WIDE + x] > least;
}

/* Bright pixels of this class that no box of it covers, with a margin of one and a half. */
static int uncovered(const float *picture, const float *truth, int class, float least)
{
    int count = 0;

    for (int y = 0; y < HIGH; y++) {
        for (int x = 0; x < WIDE; x++) {
            int covered = !is_bright(picture, class, x, y, least);

            for (int t = 0; t < BOXES && truth[5 * t] > 0 && !covered; t++)
                covered = (int)truth[5 * t + 4] == class
                          && fabs((double)truth[5 * t] * WIDE - x - 0.5)
                                 <= (double)truth[5 * t + 2] * WIDE / 2 + 1.5
                          && fabs((double)truth[5 * t + 1] * HIGH - y - 0.5)
                                 <= (double)truth[5 * t + 3] * HIGH / 2 + 1.5;
            count += !covered;
        }
    }
    return count;
}

/* The share of a box that is bright. */
static double brightness(const float *picture, const float *box, float least)
{
    int inside = 0;
    int bright = 0;

    for (int y = 0; y < HIGH; y++) {
        for (int x = 0; x < WIDE; x++) {
            if (fabs((double)box[0] * WIDE - x - 0.5) > (double)box[2] * WIDE / 2
                || fabs((double)box[1] * HIGH - y - 0.5) > (double)box[3] * HIGH / 2)
                continue;
            inside++;
            bright += is_bright(picture, (int)box[4], x, y, least);
        }
    }
    return inside ? (double)bright / inside : 1;
}

/* Boxes of a few pixels have soft edges only. */
static int is_small(const float *box)
{
    return box[2] * WIDE < 6 || box[3] * HIGH < 6;
}

static int count_boxes(const float *truth)
{
    int n = 0;

    while (n < BOXES && truth[5 * n] > 0)
        n++;
    return n;
}

/* least: how bright a rectangle is at least. Mosaics may cut so that a line of pixels is left,
 * which is no object: up to so many pixels may be lost. */
static void expect_boxes_around_rectangles(data d, float least, double share, int most_boxes)
{
    int lost = most_boxes == 4 ? HIGH : 0;
    int boxes = 0;
    int most = 0;

    for (int i = 0; i < SAMPLES; i++) {
        const float *truth = d.y.vals[i];
        int n = count_boxes(truth);

        boxes += n;
        most = n > most ? n : most;
        for (int class = 0; class < PICTURES; class ++)
            if (uncovered(d.X.vals[i], truth, class, least) > lost)
                fail_msg("sample %d: %d bright pixels of class %d outside of its boxes", i,
                         uncovered(d.X.vals[i], truth, class, least), class);
        for (int t = 0; t < n; t++)
            if (!is_small(truth + 5 * t) && brightness(d.X.vals[i], truth + 5 * t, least) < share)
                fail_msg("sample %d: box %d is not where its rectangle is", i, t);
    }
    assert_greater(boxes, SAMPLES / 2);
    assert_int_equal(most, most_boxes);
}

static void check(picture_rules rules, float least, double share, int most_boxes)
{
    data d = load(DETECTION_DATA, rules, PICTURES);

    expect_boxes_around_rectangles(d, least, share, most_boxes);
    free_data(d);
}

/* ---- tests ---- */

static void boxes_follow_crops(void **state)
{
    (void)state;
    check((picture_rules){.resize = 1}, 0.5F, 0.85, 1);
    check((picture_rules){.resize = 1.5F}, 0.5F, 0.85, 1);
    check((picture_rules){.resize = 0.6F}, 0.5F, 0.8, 1);
}

static void boxes_follow_letter_boxes(void **state)
{
    (void)state;
    check((picture_rules){.letter_box = 1}, 0.6F, 0.8, 1);
}

static void boxes_follow_mosaics(void **state)
{
    (void)state;
    check((picture_rules){.resize = 1.2F, .mosaic = 1}, 0.5F, 0.75, 4);
    check((picture_rules){.letter_box = 1, .mosaic = 1}, 0.5F, 0.75, 4);
}

static void boxes_follow_mixed_pictures(void **state)
{
    (void)state;
    check((picture_rules){.resize = 1, .mixup = 1}, 0.25F, 0.75, 2);
}

/* A third as they were, a third sharp in the boxes, a third blurred all over: noise and blur move
 * no box. */
static void blur_and_noise_leave_boxes_alone(void **state)
{
    (void)state;
    check((picture_rules){.resize = 1, .blur = 5, .gaussian_noise = 10}, 0.7F, 0.55, 1);
}

/* Where objects stay sharp, every pixel of a rectangle's inside stays one. */
static void blur_of_the_background_leaves_objects_sharp(void **state)
{
    data d = load(DETECTION_DATA, (picture_rules){.resize = 1, .blur = 1}, PICTURES);

    (void)state;
    expect_boxes_around_rectangles(d, 0.5F, 0.85, 1);
    free_data(d);
}

static void no_flip_is_heeded(void **state)
{
    (void)state;
    for (int no_flip = 0; no_flip < 2; no_flip++) {
        data d = load(DETECTION_DATA, (picture_rules){.resize = 1, .no_flip = no_flip}, PICTURES);
        int mirrored = 0;

        for (int i = 0; i < SAMPLES;
             i++) /* bees are in the left half of their picture, whatever is cut off */
            mirrored += d.y.vals[i][4] == 1 && d.y.vals[i][0] > 0.62F;
        assert_true(no_flip ? mirrored == 0 : mirrored > 0);
        free_data(d);
    }
}

static void classes_are_true_by_their_share(void **state)
{
    data d = load(CLASSIFICATION_DATA,
                  (picture_rules){.mosaic = 1, .cutmix = 1, .label_smooth_eps = 0.1F}, PICTURES);
    int mixed = 0;

    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        double sum = 0;

        for (int class = 0; class < PICTURES; class ++) {
            sum += (double)d.y.vals[i][class];
            assert_greater(d.y.vals[i][class], 0.1F / PICTURES - 1e-6F);
        }
        assert_near(sum, 1, 1e-5);
        mixed += d.y.vals[i][0] < 0.93F && d.y.vals[i][1] < 0.93F && d.y.vals[i][2] < 0.93F;
    }
    assert_greater(mixed, SAMPLES / 6);
    assert_less(mixed, SAMPLES * 5 / 6);
    free_data(d);
}

static void labels_are_found_in_either_place(void **state)
{
    char found[4096];

    (void)state;
    assert_int_equal(find_label_path(paths[0], found), 1);
    assert_string_equal(found, "labels/ant.txt");
    assert_int_equal(find_label_path(paths[1], found), 1);
    assert_string_equal(found, "images/bee.txt");
    assert_int_equal(find_label_path("images/dog.png", found), 0);
    assert_string_equal(found, "labels/dog.txt");
}

static void a_picture_without_labels_shows_nothing(void **state)
{
    data d;

    (void)state;
    for (int i = 0; i < PICTURES; i++)
        assert_int_equal(
            unlink(i ? (i == 1 ? "images/bee.txt" : "images/cow.txt") : "labels/ant.txt"), 0);
    d = load(DETECTION_DATA, (picture_rules){.resize = 1}, PICTURES);
    for (int i = 0; i < SAMPLES; i++)
        assert_int_equal(count_boxes(d.y.vals[i]), 0);
    free_data(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_follow_crops),
        cmocka_unit_test(boxes_follow_letter_boxes),
        cmocka_unit_test(boxes_follow_mosaics),
        cmocka_unit_test(boxes_follow_mixed_pictures),
        cmocka_unit_test(blur_and_noise_leave_boxes_alone),
        cmocka_unit_test(blur_of_the_background_leaves_objects_sharp),
        cmocka_unit_test(no_flip_is_heeded),
        cmocka_unit_test(classes_are_true_by_their_share),
        cmocka_unit_test(labels_are_found_in_either_place),
        cmocka_unit_test(a_picture_without_labels_shows_nothing),
    };

    return cmocka_run_group_tests(tests, make_data_set, remove_data_set);
}
