/* ddp-test: quick */
/* A step's samples lie one behind another in memory that is kept, and training reads each
 * mini-batch there: nothing is copied on the thread that trains. */
#include "../unit/folder.h"
#include "../unit/numbers.h"
#include "timing/hook_chain.h"

#include <darknet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "net.h"

enum { LINES = 5, BATCH = 12, MINI_BATCH = 4, SIDE = 8, PICTURE = 3 * SIDE * SIDE, CLASSES = 3 };

static const char cfg[] = "[net]\nbatch=12\nsubdivisions=3\nwidth=8\nheight=8\nchannels=3\n"
                          "learning_rate=0.1\nmomentum=0.9\nmax_batches=100\n"
                          "[convolutional]\nbatch_normalize=1\nfilters=4\nsize=3\nstride=1\npad=1\n"
                          "activation=leaky\n[avgpool]\n[connected]\noutput=3\n[softmax]\n";

static char *classes[] = {"cat", "dog", "eel", NULL};

static int make_pictures(void **state)
{
    (void)state;
    folder_enter();
    for (int line = 0; line < LINES; line++) {
        image im = make_image(20 + line, 16, 3);
        char path[64];

        for (int i = 0; i < im.w * im.h * im.c; i++)
            im.data[i] = (float)((i * (line + 3)) % 251) / 255;
        (void)snprintf(path, sizeof path, "%s%d", classes[line % CLASSES], line);
        save_image_options(im, path, PNG, 0);
        free_image(im);
    }
    return 0;
}

static int remove_pictures(void **state)
{
    (void)state;
    folder_leave();
    return 0;
}

/* A batch of samples of size x size, for training or not. Free it with free_data. */
static data load(int trains, int threads, int size)
{
    char text[LINES][64];
    char *paths[LINES];
    data loaded = {0};
    load_args args = {
        .paths = paths,
        .labels = classes,
        .n = BATCH,
        .m = LINES,
        .threads = threads,
        .classes = CLASSES,
        .w = size,
        .h = size,
        .size = size,
        .min = size,
        .max = size,
        .type = CLASSIFICATION_DATA,
        .d = &loaded,
        .trains = trains,
    };

    for (int i = 0; i < LINES; i++) {
        (void)snprintf(text[i], sizeof text[i], "%s%d.png", classes[i % CLASSES], i);
        paths[i] = text[i];
    }
    assert_int_equal(pthread_join(load_data(args), NULL), 0);
    return loaded;
}

static size_t choose(size_t sample, size_t n)
{
    return sample * 3 % n;
}

static void draw_as(draw_purpose purpose, int layer, size_t number)
{
    (void)purpose;
    (void)layer;
    (void)number;
}

static unsigned draw_one(void)
{
    return 1;
}

static const train_plugin plugin = {
    .is_first = 1, .choose = choose, .draw_for = draw_as, .draw = draw_one};

static int plug_in(void **state)
{
    (void)state;
    train_plugin_active = &plugin;
    return 0;
}

static int unplug(void **state)
{
    (void)state;
    train_plugin_active = NULL;
    return 0;
}

static void expect_one_behind_another(matrix m)
{
    for (int i = 1; i < m.rows; i++)
        assert_ptr_equal(m.vals[i], m.vals[0] + (size_t)i * (size_t)m.cols);
    assert_int_equal((uintptr_t)m.vals[0] % 64, 0);
}

static void samples_lie_one_behind_another_whatever_thread_loads_them(void **state)
{
    data want = load(0, 1, SIDE);

    (void)state;
    for (int threads = 1; threads <= 16; threads += 5) {
        data got = load(1, threads, SIDE);

        assert_int_equal(got.X.rows, BATCH);
        assert_int_equal(got.y.rows, BATCH);
        expect_one_behind_another(got.X);
        expect_one_behind_another(got.y);
        for (int i = 0; i < BATCH; i++) {
            assert_memory_equal(got.X.vals[i], want.X.vals[i], PICTURE * sizeof(float));
            assert_memory_equal(got.y.vals[i], want.y.vals[i], CLASSES * sizeof(float));
        }
        free_data(got);
    }
    free_data(want);
}

/* One step trains, one is loaded: no third piece of memory is made, at another size neither. */
static void the_memory_of_two_steps_is_enough(void **state)
{
    float *seen[2];
    data trains = load(1, 2, 2 * SIDE);
    data loaded = load(1, 2, 2 * SIDE);

    (void)state;
    seen[0] = trains.memory;
    seen[1] = loaded.memory;
    assert_ptr_not_equal(seen[0], seen[1]);
    for (int step = 0; step < 6; step++) {
        free_data(trains);
        trains = loaded;
        loaded = load(1, 2, step % 3 ? SIDE : 2 * SIDE);
        assert_ptr_equal(loaded.memory, seen[step % 2]);
    }
    free_data(trains);
    free_data(loaded);
}

/* ---- training ---- */

struct reading {
    ddp_hook_chain passing;
    const float *inputs[BATCH / MINI_BATCH]; /* of each mini-batch, where its first layer read it */
    const float *truths[BATCH / MINI_BATCH];
    int count;
};

static void forward_begins(void *ctx, network *net)
{
    struct reading *r = ctx;

    assert_less(r->count, BATCH / MINI_BATCH);
    r->inputs[r->count] = net->input;
    r->truths[r->count++] = net->truth;
}

/* A new network, after a step with these samples. */
static network *train(data d, struct reading *r)
{
    train_hooks hooks = ddp_hook_chain_hooks;
    network *net;

    train_plugin_active = NULL; /* which loads, and has no trainer */
    srand(7);
    net = net_parse(cfg);
    *r = (struct reading){0};
    hooks.ctx = r;
    hooks.forward_begin = forward_begins;
    net->hooks = &hooks;
    (void)train_network(net, d);
    net->hooks = NULL;
    return net;
}

static void training_reads_a_mini_batch_where_it_lies(void **state)
{
    data d = load(1, 3, SIDE);
    struct reading r;
    network *net = train(d, &r);

    (void)state;
    assert_int_equal(r.count, BATCH / MINI_BATCH);
    for (int i = 0; i < r.count; i++) {
        size_t row = (size_t)i * MINI_BATCH;

        assert_ptr_equal(r.inputs[i], d.X.vals[row]);
    }
    assert_ptr_equal(r.truths[0], d.y.vals[0]);
    assert_ptr_not_equal(net->input, d.X.vals[0]); /* its own again, which it resizes and frees */
    assert_ptr_not_equal(net->truth, d.y.vals[0]);
    free_network(net);
    free_data(d);
}

static void samples_that_lie_anywhere_are_copied_and_train_the_same(void **state)
{
    data together = load(1, 3, SIDE);
    data apart = load(0, 3, SIDE);
    struct reading r;
    network *want = train(together, &r);
    network *got = train(apart, &r);

    (void)state;
    assert_ptr_equal(r.inputs[0], got->input);
    assert_ptr_equal(r.inputs[1], got->input);
    for (int i = 0; i < got->n; i++) {
        const layer *a = &want->layers[i];
        const layer *b = &got->layers[i];

        if (a->type == CONVOLUTIONAL)
            assert_memory_equal(a->weights, b->weights, (size_t)a->nweights * sizeof(float));
    }
    free_network(want);
    free_network(got);
    free_data(together);
    free_data(apart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(samples_lie_one_behind_another_whatever_thread_loads_them,
                                        plug_in, unplug),
        cmocka_unit_test_setup_teardown(the_memory_of_two_steps_is_enough, plug_in, unplug),
        cmocka_unit_test_setup_teardown(training_reads_a_mini_batch_where_it_lies, plug_in, unplug),
        cmocka_unit_test_setup_teardown(samples_that_lie_anywhere_are_copied_and_train_the_same,
                                        plug_in, unplug),
    };

    return cmocka_run_group_tests_name("batch_memory", tests, make_pictures, remove_pictures);
}
