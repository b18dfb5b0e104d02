/* More than 1,000 faulty cfgs, weights files and pictures: each gives a sentence, none ends the
 * program, and a network that is open, and one that is opened later, give the boxes they gave
 * before. AddressSanitizer looks for what is not freed. */
#include "tiny.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CUTS = 30, WEIGHTS = 400, LEAST = 1000 };

struct tried {
    darknet_ddp_model *open;
    double boxes;
    int count; /* faulty files until now */
};

/* ---- what is tried ---- */

static void is_refused(struct tried *t, const char *cfg, const char *weights, const char *names,
                       const char *what)
{
    char error[DARKNET_DDP_ERROR] = "";
    darknet_ddp_model *model;

    if (darknet_ddp_open(&model, cfg, weights, names, -1, error) == 0)
        fail_msg("taken: %s", what);
    assert_null(model);
    assert_true(strlen(error) > 10);
    assert_null(strchr(error, '\n'));
    t->count++;
}

static void is_no_picture(struct tried *t, const char *path, const char *what)
{
    char error[DARKNET_DDP_ERROR] = "";
    unsigned char *pixels;
    int width, height;

    if (darknet_ddp_read_picture(path, &pixels, &width, &height, error) == 0)
        fail_msg("read: %s", what);
    assert_null(pixels);
    assert_non_null(strstr(error, path));
    t->count++;
}

/* ---- faults ---- */

/* Write bad.cfg: tiny.cfg with `line` in place of its bytes from begin to end. */
static void try_line(struct tried *t, const char *begin, const char *end, const char *line)
{
    char text[2048];
    int size =
        snprintf(text, sizeof text, "%.*s%s%s", (int)(begin - tiny_cfg), tiny_cfg, line, end);

    tiny_write("bad.cfg", text, (size_t)size);
    is_refused(t, "bad.cfg", "one.weights", NULL, line);
}

static void faulty_cfgs(struct tried *t)
{
    static const char *const values[] = {"x", "1x", "--1", "nan", "1e999", "", "=", "0x"};

    for (const char *line = tiny_cfg, *end; *line; line = end + 1) {
        const char *equals;
        char text[100];

        end = strchr(line, '\n');
        equals = memchr(line, '=', (size_t)(end - line));
        if (!equals) {
            try_line(t, line, end, "[nothing]");
            try_line(t, end, end, "\nnonsense=1");
            try_line(t, end, end, "\nnonsense");
            continue;
        }
        (void)snprintf(text, sizeof text, "q%.*s", (int)(end - line), line);
        try_line(t, line, end, text);
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            (void)snprintf(text, sizeof text, "%.*s%s", (int)(equals + 1 - line), line, values[i]);
            try_line(t, line, end, text);
        }
    }
    tiny_write("bad.cfg", "", 0);
    is_refused(t, "bad.cfg", "one.weights", NULL, "an empty cfg");
    is_refused(t, "none.cfg", "one.weights", NULL, "no cfg");
}

static void faulty_weights(struct tried *t)
{
    size_t size;
    unsigned char *whole = tiny_read("one.weights", &size);

    for (size_t i = 0; i < WEIGHTS; i++) {
        tiny_write("bad.weights", whole, i * size / WEIGHTS);
        is_refused(t, "tiny.cfg", "bad.weights", NULL, "weights that are cut off");
    }
    free(whole);
    is_refused(t, "tiny.cfg", "none.weights", NULL, "no weights");
    tiny_write("bad.names", "cat\n", 4);
    is_refused(t, "tiny.cfg", "one.weights", "bad.names", "names that are too few");
    is_refused(t, "tiny.cfg", "one.weights", "none.names", "no names");
}

static void cut_picture(struct tried *t, const char *path)
{
    size_t size;
    unsigned char *whole = tiny_read(path, &size);

    for (size_t i = 0; i < CUTS; i++) {
        tiny_write("bad.jpg", whole, i * size / CUTS);
        is_no_picture(t, "bad.jpg", path);
    }
    free(whole);
}

static void faulty_pictures(struct tried *t)
{
    struct dirent **entries;
    int count = scandir(DDP_JPEG_CORPUS, &entries, NULL, alphasort);

    assert_true(count > 10);
    for (int i = 0; i < count; i++) {
        char path[4096];

        (void)snprintf(path, sizeof path, "%s/%s", DDP_JPEG_CORPUS, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            cut_picture(t, path);
        free(entries[i]);
    }
    free(entries);
    is_no_picture(t, "tiny.cfg", "a cfg");
    is_no_picture(t, "none.jpg", "no file");
    is_no_picture(t, "/", "a folder");
}

static void each_faulty_file_is_an_error(void **state)
{
    struct tried t = {0};
    darknet_ddp_model *later;

    (void)state;
    tiny_begin();
    t.open = tiny_open("one.weights");
    t.boxes = tiny_look(t.open);
    faulty_cfgs(&t);
    faulty_weights(&t);
    faulty_pictures(&t);
    assert_in_range(t.count, LEAST, 2 * LEAST);
    later = tiny_open("one.weights");
    assert_float_equal(tiny_look(t.open), t.boxes, 0);
    assert_float_equal(tiny_look(later), t.boxes, 0);
    darknet_ddp_close(t.open);
    darknet_ddp_close(later);
    tiny_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_faulty_file_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
