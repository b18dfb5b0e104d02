/* ddp-test: quick */
/* Faults sown into pictures, labels and cfgs: each is found once, where it is, and nothing else. */
#include "check/data.h"
#include "check/label.h"
#include "check/lists.h"
#include "check/model.h"
#include "check/picture.h"
#include "check/same_pictures.h"
#include "folder.h"
#include "numbers.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static struct folder folder;

static const size_t numbers[] = {1, 3, 5, 7, 9, 11}; /* of lines, with a blank one behind each */

static int open_folder(void **state)
{
    (void)state;
    folder_open(&folder);
    return 0;
}

static int close_folder(void **state)
{
    (void)state;
    folder_close(&folder);
    return 0;
}

static const char *file_of(const char *name, const void *bytes, size_t count)
{
    const char *path = folder_file(&folder, name);

    folder_write(path, bytes, count);
    return path;
}

/* Faults as words "kind:line", warnings with a ~ before them. */
static void add_word(void *ctx, const ddp_fault *fault)
{
    char *text = ctx;
    size_t at = strlen(text);

    assert_greater(strlen(fault->text), 0);
    assert_greater(strlen(fault->file), 0);
    (void)snprintf(text + at, 1024 - at, "%s%s%s:%d", at ? " " : "",
                   fault->level == DDP_FAULT_ERROR ? "" : "~", fault->kind, fault->line);
}

static void expect(ddp_faults *f, const char *want)
{
    char got[1024] = "";

    ddp_faults_each(f, add_word, got);
    assert_string_equal(got, want);
    ddp_faults_release(f);
}

/* ---- pictures ---- */

#define JPEG_START                                                                                 \
    "\xff\xd8\xff\xe0\0\x10"                                                                       \
    "JFIF\0\1\1\0\0\1\0\1\0\0"
#define JPEG_FRAME "\xff\xc0\0\x11\x08\x01\x02\x03\x04\3\1\x22\0\2\x11\1\3\x11\1"
#define PNG_START "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\2\0\0\0"

static void expect_picture(const char *name, const char *bytes, size_t count, int width, int height,
                           const char *want)
{
    ddp_faults f = {0};
    ddp_picture_header size;
    int fit = ddp_check_picture(&f, file_of(name, bytes, count), "l:1", NULL, &size);

    assert_int_equal(fit, want[0] == 0);
    assert_int_equal(size.width, width);
    assert_int_equal(size.height, height);
    assert_int_equal(size.turned, 0);
    expect(&f, want);
}

#define EXPECT_PICTURE(bytes, width, height, want)                                                 \
    expect_picture("picture", bytes, sizeof(bytes) - 1, width, height, want)

static void reads_headers(void **state)
{
    (void)state;
    EXPECT_PICTURE(JPEG_START JPEG_FRAME "scan\xff\xd9", 772, 258, "");
    EXPECT_PICTURE(JPEG_START "\xff" JPEG_FRAME "scan\xff\xd9 and words behind it", 772, 258, "");
    EXPECT_PICTURE(PNG_START "dataIEND....", 640, 480, "");
    EXPECT_PICTURE("BM........\x36\0\0\0\x28\0\0\0\x40\x01\0\0\x10\xff\xff\xff", 320, 240, "");
    EXPECT_PICTURE("GIF89a\x20\0\x10\0", 32, 16, "");
}

static void finds_what_is_no_picture(void **state)
{
    ddp_faults f = {0};
    ddp_picture_header size;

    (void)state;
    EXPECT_PICTURE("", 0, 0, "picture-broken:0");
    EXPECT_PICTURE("class 0", 0, 0, "picture-broken:0");
    EXPECT_PICTURE("RIFF....WEBP", 0, 0, "picture-broken:0");
    EXPECT_PICTURE("\0\0\0\x18"
                   "ftypheic",
                   0, 0, "picture-broken:0");
    EXPECT_PICTURE(JPEG_START, 0, 0, "picture-broken:0");
    EXPECT_PICTURE(JPEG_START JPEG_FRAME "scan cut", 0, 0, "picture-broken:0");
    EXPECT_PICTURE(PNG_START "data cut", 0, 0, "picture-broken:0");
    EXPECT_PICTURE("GIF89a\0\0\x10\0", 0, 0, "picture-broken:0");
    assert_false(ddp_check_picture(&f, folder_file(&folder, "none"), "l:1", NULL, &size));
    assert_false(ddp_check_picture(&f, folder.path, "l:1", NULL, &size));
    expect(&f, "picture-unreadable:0 picture-broken:0");
}

/* ---- labels ---- */

static void count_box(void *ctx, const ddp_label_box *box)
{
    (void)box;
    ++*(size_t *)ctx;
}

static void expect_label(const char *text, size_t boxes, const char *want)
{
    ddp_label_file kind;
    const ddp_label_rules rules = {.classes = 3, .most = 4};
    ddp_faults f = {0};
    size_t found = 0;

    assert_int_equal(
        ddp_check_label(&f, file_of("label", text, strlen(text)), &rules, &kind, count_box, &found),
        boxes);
    assert_int_equal(kind, *text ? DDP_LABEL_LINES : DDP_LABEL_EMPTY);
    assert_int_equal(found, boxes);
    expect(&f, want);
}

static void labels_as_they_should_be(void **state)
{
    (void)state;
    expect_label("", 0, "");
    expect_label("0 .5 .5 1 1\n2\t0.1 1e-1  .2 .2  \r\n\n", 2, "");
}

static void finds_each_fault_of_a_label(void **state)
{
    (void)state;
    expect_label("0 .5 .5 1\n", 0, "label-columns:1");
    expect_label("0 .5 .5 .1 .1 .9\n", 0, "label-columns:1");
    expect_label("0 .5 .5 .1 .1\ncat .5 .5 1 1\n", 1, "label-class:2");
    expect_label("0 .5 nan .1 .1\n0 .5 inf .1 .1\n0 .5 ,5 .1 .1", 0,
                 "label-number:1 label-number:2 label-number:3");
    expect_label("3 .5 .5 1 1\n-1 .5 .5 1 1\n0.5 .5 .5 1 1\n", 0,
                 "label-class:1 label-class:2 label-class:3");
    expect_label("0.0 .5 .5 .1 .1\n1e0 .5 .5 .1 .1\n0x1 .5 .5 .1 .1\n", 0,
                 "label-class:1 label-class:2 label-class:3");
    expect_label("0 0x.8 .5 .1 .1\n0 .5 .5 .1 0X1p-2\n+1 .5 +.5 .1 .1\n", 1,
                 "label-number:1 label-number:2");
    expect_label("0 -1e6 .5 .1 .1\n0 .5 .5 1e39 .1\n0 .5 .5 .1 1e\n\v\n", 0,
                 "label-number:1 label-number:2 label-number:3");
    expect_label("0 1.2 .5 .1 .1\n0 -.1 .5 .1 .1\n", 0, "label-range:1 label-range:2");
    expect_label("0 .5 .5 1.0000001 .9\n1 1.0000009 -1e-8 .1 .1\n0 .5 .5 1.00001 .9\n", 2,
                 "label-range:3");
    expect_label("0 .5 .5 -.1 .1\n0 .5 .5 0 .1\n", 0, "label-size:1 label-zero:2");
    expect_label("0 .5 .5 .0005 .1\n", 1, "~label-tiny:1");
    expect_label("0 320 240 100 50\n0 10 10 5 5\n", 0, "label-pixels:1");
    expect_label("0 .5 .5 .1 .1\n1 .5 .5 .1 .1\n0 .5 .5 .1 .1\n", 3, "~label-twice:0");
    expect_label("0 .1 .5 .1 .1\n0 .2 .5 .1 .1\n0 .3 .5 .1 .1\n0 .4 .5 .1 .1\n0 .5 .5 .1 .1\n", 5,
                 "label-many:0");
}

/* ---- a list ---- */

static void label_beside(const char *picture, char *out)
{
    (void)snprintf(out, DDP_PATH_BYTES, "%s.txt", picture);
}

static void counts_pictures_boxes_and_classes(void **state)
{
    static const float anchors[] = {.5f, .5f, .1f, .2f};
    const ddp_check_config config = {.label_path = label_beside,
                                     .classes = 2,
                                     .most_boxes = 10,
                                     .anchors = anchors,
                                     .anchor_count = 2};
    char *paths[] = {strdup(file_of("a.png", PNG_START "IEND", sizeof PNG_START + 3)),
                     strdup(file_of("b.png", PNG_START "IEND", sizeof PNG_START + 3)),
                     strdup(file_of("c.png", PNG_START "IEND", sizeof PNG_START + 3))};
    ddp_tally t = {0};
    ddp_faults f = {0};
    uint64_t by_class[2] = {0};

    (void)state;
    (void)file_of("a.png.txt", "0 .5 .5 .5 .5\n1 .5 .5 .1 .1\n", 28);
    (void)file_of("b.png.txt", "", 0);
    ddp_check_pictures(&f, &t, by_class, &config, &(ddp_list_lines){"list", paths, numbers, 3});
    expect(&f, "");
    assert_int_equal(t.pictures, 3);
    assert_int_equal(t.without_labels, 1);
    assert_int_equal(t.without_boxes, 1);
    assert_int_equal(t.boxes, 2);
    assert_int_equal(by_class[0], 1);
    assert_int_equal(by_class[1], 1);
    assert_int_equal(t.sides[2], 3); /* 640 */
    assert_int_equal(t.sizes[4], 1);
    assert_int_equal(t.anchored, 2);
    assert_greater(t.anchor_iou, 1.499);
    assert_less(t.anchor_iou, 1.501); /* 1 and 1/2 */
    for (int i = 0; i < 3; i++)
        free(paths[i]);
}

static void names_in_paths(void **state)
{
    char *names[] = {"cat", "dog"};
    const ddp_check_config config = {.classes = 2, .names = names};
    static const char *const files[] = {"cat1.png", "dog-and-cat.png", "bird.png"};
    char *paths[3];
    ddp_tally t = {0};
    ddp_faults f = {0};
    uint64_t by_class[2] = {0};

    (void)state;
    for (int i = 0; i < 3; i++)
        paths[i] = strdup(file_of(files[i], PNG_START "IEND", sizeof PNG_START + 3));
    ddp_check_pictures(&f, &t, by_class, &config, &(ddp_list_lines){"list", paths, numbers, 3});
    expect(&f, "class-many:0 class-none:0");
    assert_int_equal(by_class[0], 1);
    for (int i = 0; i < 3; i++)
        free(paths[i]);
}

static void finds_lines_that_stand_twice(void **state)
{
    char *paths[] = {"b", "a", "b", "c", "b"};
    ddp_faults f = {0};

    (void)state;
    ddp_check_duplicates(&f, &(ddp_list_lines){"list", paths, numbers, 5});
    expect(&f, "~list-twice:5 ~list-twice:9");
}

/* By what is in them: p0 and p2 are one picture, and so are p1 and p3; p4 has the size, start,
 * middle and end of p5. */
static void finds_pictures_that_are_the_same(void **state)
{
    char *paths[6], *linked = NULL;
    char bytes[40000] = "a picture";
    ddp_faults f = {0};

    (void)state;
    for (int i = 0; i < 6; i++) {
        char name[8];

        (void)snprintf(name, sizeof name, "p%d", i);
        bytes[9] = (char)(i < 4 ? 1 + i % 2 : 3);
        bytes[9000] = (char)(i == 5);
        paths[i] = strdup(file_of(name, bytes, i % 2 ? sizeof bytes : sizeof bytes - 1));
    }
    free(paths[4]);
    bytes[9000] = 0;
    paths[4] = strdup(file_of("p4", bytes, sizeof bytes));
    assert_true(asprintf(&linked, "%s/./p0", folder.path) > 0);

    char *train[] = {paths[0], paths[1], paths[4], paths[2], "none", "none"};
    char *valid[] = {paths[5], linked, paths[3], "none", "gone"};
    const ddp_list_lines trained = {"train", train, numbers, 6};
    ddp_list_lines validated = {"valid", valid, numbers, 5};

    ddp_check_same_pictures(&f, &trained, &validated);
    assert_non_null(memmem(f.text, f.bytes, "\t3 of 5 pictures", 16));
    assert_non_null(memmem(f.text, f.bytes, "\t1 picture of this list is another", 34));
    expect(&f, "~list-same:7 ~list-shared:3");
    f = (ddp_faults){0};
    validated.count = 1;
    ddp_check_same_pictures(&f, &validated, NULL);
    expect(&f, "");
    free(linked);
    for (int i = 0; i < 6; i++)
        free(paths[i]);
}

static void numbers_lines_that_are_not_blank(void **state)
{
    const char *list = file_of("list", "\n a\n\t\r\n\nb\nc", 11);

    (void)state;
    assert_int_equal(ddp_list_line_number(list, 0), 2);
    assert_int_equal(ddp_list_line_number(list, 1), 5);
    assert_int_equal(ddp_list_line_number(list, 2), 6);
    assert_int_equal(ddp_list_line_number(list, 7), 8);
    assert_int_equal(ddp_list_line_number("none", 4), 5);
}

/* ---- a cfg ---- */

static void expect_model(const char *text, int data_classes, const char *want, ddp_heads *heads)
{
    ddp_cfg_text cfg;
    ddp_faults f = {0};
    ddp_error err;

    assert_int_equal(ddp_cfg_text_read(&cfg, text, strlen(text), &err), DDP_OK);
    ddp_check_model(&f, heads, &cfg, "x.cfg", "x.data", data_classes);
    expect(&f, want);
    ddp_cfg_text_release(&cfg);
}

static void compares_data_and_cfg(void **state)
{
    ddp_heads heads;

    (void)state;
    expect_model("[net]\nwidth=100\nheight=50\n[convolutional]\nfilters=24\n[yolo]\nclasses=3\n"
                 "mask=0,1,2\nanchors=10,10, 20,25, 50,50\nmax=7\n",
                 3, "", &heads);
    assert_int_equal(heads.count, 1);
    assert_int_equal(heads.most_boxes, 7);
    assert_int_equal(heads.anchor_count, 3);
    assert_number_equal(heads.anchors[2], 0.2f);
    assert_number_equal(heads.anchors[3], 0.5f);
    expect_model("[net]\n[convolutional]\nfilters=255\n[yolo]\nclasses=3\nmask=0,1,2\n", 3,
                 "cfg-filters:3", &heads);
    expect_model("[net]\n[conv]\nfilters=255\n[yolo]\nclasses=3\nmask=0,1,2\n", 3, "cfg-filters:3",
                 &heads);
    expect_model("[net]\n[convolutional]\nfilters=255\n[yolo]\nclasses=80\nmask=0,1,2\n", 3,
                 "cfg-classes:5", &heads);
    expect_model("[net]\n[convolutional]\nfilters=125\n[region]\nclasses=20\nnum=5\ncoords=4\n", 20,
                 "", &heads);
    expect_model("[net]\n[convolutional]\n[region]\nnum=5\n", 20, "cfg-filters:2", &heads);
    expect_model("[net]\n[convolutional]\nfilters=24\n[yolo]\nclasses=three\n", 3, "", &heads);
    /* What is wrong with the head's own numbers is not blamed on filters=. */
    expect_model("[net]\n[convolutional]\nfilters=24\n[yolo]\nclasses=3\nmask=0,1,2,\n", 3, "",
                 &heads);
    expect_model("[net]\n[convolutional]\nfilters=9\n[yolo]\nclasses=3\nmask=0,,1,2\n", 3, "",
                 &heads);
    expect_model("[net]\n[convolutional]\nfilters=9\n[yolo]\nclasses=3\nmask=0 1 2\n", 3, "",
                 &heads);
    expect_model("[net]\n[convolutional]\nfilters=9\n[yolo]\nclasses=3\nmask=0;1;2\n", 3,
                 "cfg-filters:3", &heads); /* a comment */
    expect_model("[net]\n[convolutional]\nfilters=9,\n[yolo]\nclasses=1.5\n", 3, "", &heads);
    expect_model("[net]\nwidth=4\nchannels=1\n[softmax]\n", 3, "cfg-channels:3", &heads);
    expect_model("[net]\n[softmax]\n", 3, "", &heads);
    assert_int_equal(heads.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_headers),
        cmocka_unit_test(finds_what_is_no_picture),
        cmocka_unit_test(labels_as_they_should_be),
        cmocka_unit_test(finds_each_fault_of_a_label),
        cmocka_unit_test(counts_pictures_boxes_and_classes),
        cmocka_unit_test(names_in_paths),
        cmocka_unit_test(finds_lines_that_stand_twice),
        cmocka_unit_test(finds_pictures_that_are_the_same),
        cmocka_unit_test(numbers_lines_that_are_not_blank),
        cmocka_unit_test(compares_data_and_cfg),
    };

    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
