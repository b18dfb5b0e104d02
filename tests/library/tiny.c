#include "tiny.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    PICTURES = 3,
    FILTERS = 4,
    LAST = 7
}; /* 7 values of an anchor: a box, objectness, classes */

const char tiny_cfg[] = "[net]\nwidth=32\nheight=32\nchannels=3\n"
                        "learning_rate=0.001\nmax_batches=10\n"
                        "[convolutional]\nbatch_normalize=1\nfilters=4\nsize=3\nstride=2\npad=1\n"
                        "activation=leaky\n"
                        "[maxpool]\nsize=2\nstride=2\n"
                        "[convolutional]\nfilters=7\nsize=1\nstride=1\npad=1\nactivation=linear\n"
                        "[yolo]\nmask=0\nanchors=12,12\nclasses=2\nnum=1\nignore_thresh=.5\n"
                        "truth_thresh=1\njitter=.2\n";

static char folder[64], from[4096];

void tiny_write(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

unsigned char *tiny_read(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    unsigned char *bytes;

    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    *size = (size_t)ftell(f);
    rewind(f);
    bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, f), *size);
    assert_int_equal(fclose(f), 0);
    return bytes;
}

/* Return the next of a row of numbers from -1 to 1. */
static float draw(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return (float)(*state >> 8) / (1 << 23) - 1;
}

static void write_weights(const char *path, uint32_t seed)
{
    struct {
        int32_t version[3];
        uint32_t seen[2];
        float biases[FILTERS], scales[FILTERS], means[FILTERS], variances[FILTERS];
        float weights[FILTERS * 3 * 9], last[LAST + LAST * FILTERS];
    } file = {.version = {0, 2, 0}};

    for (int i = 0; i < FILTERS; i++) {
        file.biases[i] = draw(&seed);
        file.scales[i] = 1 + draw(&seed) / 2;
        file.means[i] = draw(&seed) / 4;
        file.variances[i] = 1 + draw(&seed) / 2;
    }
    for (size_t i = 0; i < sizeof file.weights / sizeof *file.weights; i++)
        file.weights[i] = draw(&seed);
    for (size_t i = 0; i < sizeof file.last / sizeof *file.last; i++)
        file.last[i] = draw(&seed);
    tiny_write(path, &file, sizeof file);
}

void tiny_begin(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/ddp-library-XXXXXX");
    assert_non_null(getcwd(from, sizeof from));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    tiny_write("tiny.cfg", tiny_cfg, strlen(tiny_cfg));
    write_weights("one.weights", 1);
    write_weights("two.weights", 2);
}

void tiny_end(void)
{
    static const char *const files[] = {"tiny.cfg",    "one.weights", "two.weights", "bad.cfg",
                                        "bad.weights", "bad.jpg",     "bad.names"};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        (void)unlink(files[i]);
    assert_int_equal(chdir(from), 0);
    assert_int_equal(rmdir(folder), 0);
}

darknet_ddp_model *tiny_open(const char *weights)
{
    char error[DARKNET_DDP_ERROR] = "";
    darknet_ddp_model *model;

    if (darknet_ddp_open(&model, "tiny.cfg", weights, NULL, -1, error))
        fail_msg("%s", error);
    return model;
}

double tiny_look(darknet_ddp_model *model)
{
    unsigned char pixels[TINY_SIDE * TINY_SIDE * 3];
    char error[DARKNET_DDP_ERROR];
    uint32_t state = 3;
    double sum = 0;
    int all = 0;

    for (int picture = 0; picture < PICTURES; picture++) {
        darknet_ddp_box *boxes;
        int count;

        for (size_t i = 0; i < sizeof pixels; i++)
            pixels[i] = (unsigned char)(127.5F * (1 + draw(&state)));
        assert_int_equal(darknet_ddp_detect(model, pixels, TINY_SIDE, TINY_SIDE, 0.005F, 0.45F,
                                            &boxes, &count, error),
                         0);
        for (int i = 0; i < count; i++)
            sum += (double)(boxes[i].score * (boxes[i].left + 2 * boxes[i].top))
                   + (double)boxes[i].width;
        all += count;
        darknet_ddp_free(boxes);
    }
    assert_true(all > PICTURES);
    return sum;
}
