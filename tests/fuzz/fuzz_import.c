/* Fuzzes the readers of annotations: the first byte says which, and the rest is the file that it
 * reads, beside a picture that the file may name and a label file of data.yaml. */
#include "import/folder.h"
#include "import/prepare.h"
#include "import/readers.h"
#include "import/split.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A picture of 2 x 2: a bitmap of 24 bits. */
static const unsigned char picture[] = {
    'B', 'M', 70, 0, 0,  0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0,  2,  0,  0, 0, 2, 0,
    0,   0,   1,  0, 24, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0,  0, 0, 0,  0,  0,  0, 0, 0, 0,
    0,   0,   0,  0, 0,  0, 1, 2, 3, 4, 5,  6, 0, 0, 7,  8, 9, 10, 11, 12, 0, 0};

/* A form of input: its reader, the file that is made of the input, and what is read. */
static const struct form {
    ddp_import_reader *read;
    const char *file, *source;
} forms[] = {{ddp_coco_read, "a.json", "a.json"},
             {ddp_voc_read, "xml/a.xml", "xml"},
             {ddp_yolo_read, "a.yaml", "a.yaml"},
             {ddp_yolo_read, "labels/a.txt", "own.yaml"}};

enum { FORMS = sizeof forms / sizeof forms[0] };

static char folder[] = "/tmp/ddp-fuzz-XXXXXX";
static const char inner[] = "in"; /* the folder in it in which this process works */

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(data, 1, size, f) != size || fclose(f))
        abort();
}

static void remove_folder(void)
{
    static const char *const names[] = {"a.json",       "xml/a.xml", "a.yaml",
                                        "labels/a.txt", "own.yaml",  "images/a.bmp",
                                        "images",       "labels",    "xml"};

    if (chdir(folder) || chdir(inner))
        return;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)remove(names[i]);
    if (!chdir(".."))
        (void)rmdir(inner);
    (void)rmdir(folder);
}

/* This process works in it, and removes it when it ends. */
static void make_folder(void)
{
    static const char own[] = "train: images\nnames: [a, b, c]\n";
    static int made;

    if (made)
        return;
    made = 1;
    if (!mkdtemp(folder) || chdir(folder) || mkdir(inner, 0700) || chdir(inner)
        || mkdir("images", 0700) || mkdir("labels", 0700) || mkdir("xml", 0700)
        || atexit(remove_folder))
        abort();
    write_file("images/a.bmp", picture, sizeof picture);
    write_file("own.yaml", own, sizeof own - 1);
}

/* What every prepared box keeps to. */
static void see_boxes(const ddp_annotations *a)
{
    for (size_t i = 0; i < a->box_count; i++) {
        const ddp_annotated_box *b = &a->boxes[i];

        if (!(b->left >= 0 && b->left < b->right && b->right <= 1 && b->top >= 0
              && b->top < b->bottom && b->bottom <= 1 && b->class_id >= 0
              && (size_t)b->class_id < a->class_count && b->picture < a->picture_count
              && a->pictures[b->picture].path))
            abort();
    }
}

/* Return 1 if a path of the text may lead out of this harness' folder, by a / at its beginning or
 * by more than one step up. A data.yaml that names such a folder has all its pictures read, which
 * says nothing of the reader. */
static int leads_out(const uint8_t *text, size_t size)
{
    int ups = 0;

    for (size_t i = 0; i < size; i++) {
        ups += i > 0 && text[i] == '.' && text[i - 1] == '.';
        if (text[i] == '/' && (i == 0 || (!isalnum(text[i - 1]) && text[i - 1] != '.')))
            return 1;
    }
    return ups > 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct form *form = &forms[size > 0 ? data[0] % FORMS : 0];
    const ddp_import_source source = {form->source, NULL};
    ddp_annotations a = {0};
    ddp_error err;

    if (size < 1 || (form->read == ddp_yolo_read && leads_out(data + 1, size - 1)))
        return 0;
    make_folder();
    write_file(form->file, data + 1, size - 1);
    if (!form->read(&a, &source, &err) && !a.lost) {
        ddp_annotations_prepare(&a, 1U << DDP_ODD_CROWD);
        ddp_split(&a, -1);
        see_boxes(&a);
    }
    ddp_annotations_release(&a);
    return 0;
}
