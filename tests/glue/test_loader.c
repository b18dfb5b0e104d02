/* ddp-test: quick */
/* Darknet's loaders: a sample depends on the seed and on its number, not on threads, ranks or what
 * rand() gives. With a data set of the test's own. */
#include "../unit/folder.h"
#include "../unit/numbers.h"
#include "samples/sampler.h"

#include <darknet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { LINES = 9, BATCH = 12, BATCHES = 3, CLASSES = 3, BOXES = 4, CELL = 4, MASK = 14 * 14 };

static const uint64_t seed = 0x0123456789abcdef;
static char *classes[] = {"cat", "dog", "eel", NULL};

/* ---- the data set, in a folder that the test works in ---- */

static void make_folder(const char *name)
{
    if (mkdir(name, 0700))
        fail_msg("cannot make the folder %s: %s", name, strerror(errno));
}

/* Sizes and colours of the test's own, so that no two pictures could be confused. */
static void write_picture(int line)
{
    image im = make_image(24 + 7 * (line % 4), 30 + 5 * (line % 3), 3);
    char path[64];

    for (int i = 0; i < im.w * im.h * im.c; i++)
        im.data[i] = (float)((i * (line + 3) + i / im.w * 11) % 251) / 255;
    (void)snprintf(path, sizeof path, "images/%s%d", classes[line % CLASSES], line);
    save_image_options(im, path, PNG, 0);
    free_image(im);
}

static void write_label(const char *sub, int line, const char *text)
{
    char path[64];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s%d.txt", sub, classes[line % CLASSES], line);
    file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file))
        fail_msg("cannot write %s: %s", path, strerror(errno));
}

static void write_labels(int line)
{
    double at = 0.3 + 0.04 * line;
    char text[256];

    (void)snprintf(text, sizeof text,
                   "%d %.2f 0.5 0.3 0.4\n%d 0.5 %.2f 0.2 0.2\n%d 0.4 0.6 %.2f 0.3\n",
                   line % CLASSES, at, (line + 1) % CLASSES, at, (line + 2) % CLASSES, at / 2);
    write_label("labels", line, text);
    (void)snprintf(text, sizeof text, "%d 100,%d,60,90\n%d 300,150\n", line % CLASSES,
                   40 + 10 * line, (line + 1) % CLASSES);
    write_label("mask", line, text);
    (void)snprintf(text, sizeof text, "%d %.2f\n", line, at);
    write_label("numbers/labels", line, text);
    (void)snprintf(text, sizeof text, "%d\n", line % CLASSES);
    write_label("tags/labels", line, text);
}

static int make_data_set(void **state)
{
    static const char *const folders[] = {"images",         "labels", "mask",       "numbers",
                                          "numbers/labels", "tags",   "tags/labels"};

    (void)state;
    folder_enter();
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        make_folder(folders[i]);
    if (symlink("../images", "numbers/images") || symlink("../images", "tags/images"))
        fail_msg("cannot make a symbolic link: %s", strerror(errno));
    for (int line = 0; line < LINES; line++) {
        write_picture(line);
        write_labels(line);
    }
    return 0;
}

static int remove_data_set(void **state)
{
    (void)state;
    folder_leave();
    return 0;
}

/* ---- loading ---- */

/* A list, and how Darknet's train command for it fills load_args. */
struct kind {
    const char *name;
    const char *prefix; /* of the pictures' paths */
    data_type type;
    int outputs; /* load_args.classes */
    int boxes;   /* load_args.num_boxes */
    picture_rules rules;
};

static const struct kind kinds[] = {
    {"classification", "", CLASSIFICATION_DATA, CLASSES, 0, {0}},
    {"detection", "", DETECTION_DATA, CLASSES, BOXES, {0}},
    {"region", "", REGION_DATA, CLASSES, BOXES, {0}},
    {"regression", "numbers/", REGRESSION_DATA, 2, 0, {0}},
    {"segmentation", "", SEGMENTATION_DATA, CLASSES, 0, {0}},
    {"iseg", "", ISEG_DATA, CLASSES, BOXES, {0}},
    {"instance", "", INSTANCE_DATA, CLASSES, BOXES, {0}},
    {"tag", "tags/", TAG_DATA, CLASSES, 0, {0}},
    {"crops", "", DETECTION_DATA, CLASSES, BOXES, {.forks = 1, .resize = 1.5F}},
    {"letter box",
     "",
     DETECTION_DATA,
     CLASSES,
     BOXES,
     {.forks = 1, .letter_box = 1, .blur = 5, .gaussian_noise = 9}},
    {"mosaics",
     "",
     DETECTION_DATA,
     CLASSES,
     4 * BOXES,
     {.forks = 1, .resize = 1.3F, .mosaic = 1, .blur = 1}},
    {"mixed", "", DETECTION_DATA, CLASSES, 2 * BOXES, {.forks = 1, .resize = 1, .mixup = 1}},
    {"mixed classes",
     "",
     CLASSIFICATION_DATA,
     CLASSES,
     0,
     {.forks = 1, .mosaic = 1, .cutmix = 1, .blur = 3, .label_smooth_eps = 0.1F}},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Samples first .. first+count-1, images of size x size. Free them with free_data. */
static data load(const struct kind *kind, size_t first, int count, int threads, int size)
{
    char text[LINES][64];
    char *paths[LINES];
    data loaded = {0};
    load_args args = {
        .paths = paths,
        .labels = classes,
        .n = count,
        .m = LINES,
        .first = first,
        .threads = threads,
        .classes = kind->outputs,
        .num_boxes = kind->boxes,
        .coords = 4 + MASK,
        .scale = CELL,
        .w = size,
        .h = size,
        .size = size,
        .min = size,
        .max = 2 * size,
        .angle = 20,
        .aspect = 1.5F,
        .jitter = 0.3F,
        .hue = 0.2F,
        .saturation = 1.6F,
        .exposure = 1.4F,
        .type = kind->type,
        .rules = kind->rules,
        .d = &loaded,
    };

    for (int i = 0; i < LINES; i++) {
        (void)snprintf(text[i], sizeof text[i], "%simages/%s%d.png", kind->prefix,
                       classes[i % CLASSES], i);
        paths[i] = text[i];
    }
    assert_int_equal(pthread_join(load_data(args), NULL), 0);
    return loaded;
}

/* Rows of a that differ in any bit from those of b from row `at` on. */
static int differences(matrix a, matrix b, int at)
{
    int count = 0;

    assert_int_equal(a.cols, b.cols);
    assert_at_most(at + a.rows, b.rows);
    for (int i = 0; i < a.rows; i++)
        count += memcmp(a.vals[i], b.vals[at + i], (size_t)a.cols * sizeof(float)) != 0;
    return count;
}

/* Load samples first .. first+count-1 and see that they are rows at .. of want. */
static void expect_rows(const struct kind *kind, data want, int at, size_t first, int count,
                        int threads)
{
    data got = load(kind, first, count, threads, want.w);
    int x;
    int y;

    assert_int_equal(got.X.rows, count);
    assert_int_equal(got.y.rows, count);
    x = differences(got.X, want.X, at);
    y = differences(got.y, want.y, at);
    free_data(got);
    if (x || y)
        fail_msg("%s of %d: of samples %zu to %zu, %d threads, %d inputs and %d labels differ",
                 kind->name, want.w, first, first + (size_t)count - 1, threads, x, y);
}

/* One batch, as one rank with one thread loads it. */
static data load_batch(const struct kind *kind, size_t step, int size)
{
    data batch = load(kind, step * BATCH, BATCH, 1, size);

    assert_int_equal(batch.X.rows, BATCH);
    assert_int_equal(batch.X.cols, 3 * size * size);
    batch.w = size;
    return batch;
}

/* ---- the plugin ---- */

static atomic_int chosen[LINES];

static size_t choose(size_t sample, size_t n)
{
    size_t line = ddp_sampler_permuted_line(seed, sample, n);

    assert_int_equal(n, LINES);
    (void)atomic_fetch_add(&chosen[line], 1);
    return line;
}

static const train_plugin plugin = {
    .is_first = 1, .choose = choose, .draw_for = ddp_draw_for, .draw = ddp_draw};

static int plug_in(void **state)
{
    (void)state;
    ddp_sampler_seed(seed);
    train_plugin_active = &plugin;
    return 0;
}

static int unplug(void **state)
{
    (void)state;
    train_plugin_active = NULL;
    return 0;
}

/* ---- tests ---- */

/* Sizes as random=1 takes turns with. */
static const int sizes[] = {32, 48};

static void for_each_batch(void (*check)(const struct kind *kind, data batch, size_t step))
{
    for (int k = 0; k < KINDS; k++) {
        for (size_t step = 0; step < BATCHES; step++) {
            data batch = load_batch(&kinds[k], step, sizes[step % 2]);

            check(&kinds[k], batch, step);
            free_data(batch);
        }
    }
}

static void check_threads(const struct kind *kind, data batch, size_t step)
{
    static const int threads[] = {1, 2, 7, 64};

    for (int i = 0; i < 4; i++)
        expect_rows(kind, batch, 0, step * BATCH, BATCH, threads[i]);
}

static void threads_do_not_change_a_batch(void **state)
{
    (void)state;
    for_each_batch(check_threads);
}

/* Check ranks' batches as Darknet's train_sample cuts them: rank r takes the r-th part. */
static void check_ranks(const struct kind *kind, data batch, size_t step)
{
    for (int ranks = 1; ranks <= 4; ranks++) {
        int share = BATCH / ranks;

        for (int r = ranks - 1; r >= 0; r--)
            expect_rows(kind, batch, r * share, step * BATCH + (size_t)(r * share), share, 2);
    }
}

static void the_parts_of_ranks_make_up_the_batch(void **state)
{
    (void)state;
    for_each_batch(check_ranks);
}

static void steps_sizes_and_seeds_differ(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        data first = load_batch(&kinds[k], 0, 32);
        data second = load_batch(&kinds[k], 1, 32);
        data other;

        assert_int_equal(differences(first.X, second.X, 0), BATCH);
        ddp_sampler_seed(seed + 1);
        other = load_batch(&kinds[k], 0, 32);
        ddp_sampler_seed(seed);
        assert_int_equal(differences(first.X, other.X, 0), BATCH);
        free_data(first);
        free_data(second);
        free_data(other);
    }
}

/* A line in two epochs is another picture each time, of the same label. */
static void a_line_is_augmented_anew_each_epoch(void **state)
{
    data epochs = load(&kinds[0], 0, 2 * LINES, 1, 32);
    int met = 0;

    (void)state;
    for (size_t i = 0; i < LINES; i++) {
        for (size_t j = LINES; j < (size_t)2 * LINES; j++) {
            if (ddp_sampler_permuted_line(seed, i, LINES)
                != ddp_sampler_permuted_line(seed, j, LINES))
                continue;
            met++;
            assert_memory_equal(epochs.y.vals[i], epochs.y.vals[j], CLASSES * sizeof(float));
            assert_memory_not_equal(epochs.X.vals[i], epochs.X.vals[j],
                                    (size_t)epochs.X.cols * sizeof(float));
        }
    }
    assert_int_equal(met, LINES);
    free_data(epochs);
}

/* The first number of a line's label is the line: three batches of 12 are four epochs of
 * nine lines. */
static void each_line_is_loaded_once_an_epoch(void **state)
{
    int loaded[LINES] = {0};
    int seen = 0;

    (void)state;
    for (int i = 0; i < LINES; i++)
        chosen[i] = 0;
    for (size_t step = 0; step < 3; step++) {
        data batch = load(&kinds[3], step * BATCH, BATCH, 5, 32);

        for (int i = 0; i < BATCH; i++) {
            loaded[(int)batch.y.vals[i][0]]++;
            if (++seen % LINES == 0) {
                for (int line = 0; line < LINES; line++)
                    assert_int_equal(loaded[line], seen / LINES);
            }
        }
        free_data(batch);
    }
    for (int i = 0; i < LINES; i++)
        assert_int_equal(chosen[i], 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(threads_do_not_change_a_batch, plug_in, unplug),
        cmocka_unit_test_setup_teardown(the_parts_of_ranks_make_up_the_batch, plug_in, unplug),
        cmocka_unit_test_setup_teardown(steps_sizes_and_seeds_differ, plug_in, unplug),
        cmocka_unit_test_setup_teardown(a_line_is_augmented_anew_each_epoch, plug_in, unplug),
        cmocka_unit_test_setup_teardown(each_line_is_loaded_once_an_epoch, plug_in, unplug),
    };

    return cmocka_run_group_tests_name("loader", tests, make_data_set, remove_data_set);
}
