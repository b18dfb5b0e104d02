/* Fuzzes lists, names, trees, maps, and the labels of a picture in each form: the first byte says
 * which. */
#include "guarded.h"

#include "check/label.h"

#include <darknet.h>
#include <data.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void *load_thread(void *args); /* Darknet's; frees args */

enum { MEMORY = 8 << 20, CLASSES = 4, LISTS = 4, KINDS = 10 };

/* A picture of 2 x 2, beside which the labels are: a bitmap of 24 bits. */
static const unsigned char picture[] = {
    'B', 'M', 70, 0, 0,  0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0,  2,  0,  0, 0, 2, 0,
    0,   0,   1,  0, 24, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0,  0, 0, 0,  0,  0,  0, 0, 0, 0,
    0,   0,   0,  0, 0,  0, 1, 2, 3, 4, 5,  6, 0, 0, 7,  8, 9, 10, 11, 12, 0, 0};

struct input {
    int kind;
    const char *path; /* of a list */
};

static char folder[] = "/tmp/ddp-fuzz-XXXXXX";

static void remove_folder(void)
{
    static const char *const names[] = {"images/a.bmp", "labels/a.txt", "mask/a.txt",
                                        "images",       "labels",       "mask"};

    if (chdir(folder))
        return;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)remove(names[i]);
    (void)rmdir(folder);
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(data, 1, size, f) != size || fclose(f))
        abort();
}

/* This process works in it, and removes it when it ends. */
static void make_folder(void)
{
    static int made;

    if (made)
        return;
    made = 1;
    if (!mkdtemp(folder) || chdir(folder) || mkdir("images", 0700) || mkdir("labels", 0700)
        || mkdir("mask", 0700) || atexit(remove_folder))
        abort();
    write_file("images/a.bmp", picture, sizeof picture);
}

static void read_list(const struct input *in)
{
    char *path = (char *)in->path;

    if (in->kind == 0)
        (void)get_paths(path);
    else if (in->kind == 1)
        (void)get_labels(path);
    else if (in->kind == 2)
        (void)read_tree(path);
    else
        (void)read_map(path);
}

static void read_sample(const struct input *in)
{
    static const data_type types[KINDS - LISTS] = {
        DETECTION_DATA, REGRESSION_DATA, SEGMENTATION_DATA, ISEG_DATA, TAG_DATA, REGION_DATA};
    static char path[] = "images/a.bmp", *paths[] = {path};
    load_args *args = malloc(sizeof *args);
    data out = {0};

    if (!args)
        return;
    *args = (load_args){.paths = paths,
                        .n = 1,
                        .m = 1,
                        .w = 8,
                        .h = 8,
                        .min = 8,
                        .max = 8,
                        .size = 8,
                        .classes = CLASSES,
                        .num_boxes = 4,
                        .coords = 4,
                        .scale = 1,
                        .threads = 1,
                        .jitter = .2F,
                        .type = types[in->kind - LISTS],
                        .d = &out};
    (void)load_thread(args);
    free_data(out);
}

static void read_it(void *arg)
{
    const struct input *in = arg;

    if (in->kind < LISTS)
        read_list(in);
    else
        read_sample(in);
}

static void count(void *boxes, const ddp_label_box *box)
{
    *(int *)boxes += box->class_id >= 0 && box->class_id < CLASSES;
}

static void check_label(void)
{
    static const ddp_label_rules rules = {.classes = CLASSES, .most = 4, .width = 2, .height = 2};
    ddp_faults faults = {0};
    ddp_label_file kind;
    int boxes = 0;

    (void)ddp_check_label(&faults, "labels/a.txt", &rules, &kind, count, &boxes);
    ddp_faults_release(&faults);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in;

    if (size < 1)
        return 0;
    make_folder();
    in.kind = data[0] % KINDS;
    in.path = guarded_file(0, data + 1, size - 1);
    if (in.kind >= LISTS) {
        write_file("labels/a.txt", data + 1, size - 1);
        write_file("mask/a.txt", data + 1, size - 1);
    }
    (void)guarded_run(read_it, &in, MEMORY);
    if (in.kind == LISTS)
        check_label();
    return 0;
}
