#include "validate/result_files.h"

#include "base/path.h"
#include "inputs/overwrite.h"
#include "samples/transforms.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Darknet's own: COCO's numbers of its 80 classes. */
extern int coco_ids[];

typedef struct output {
    const ddp_results_config *config;
    const struct format *format;
    FILE *file; /* NULL: none is open */
    char path[1024];
    uint32_t picture; /* picture whose size is known */
    int width, height;
    int lines;        /* lines in the file */
    int have_numbers; /* 1: each picture has a number of its own, which is its image_id */
} output;

/* The sides of a box in pixels, within the picture, as Darknet computes them. */
struct sides {
    float left, top, right, bottom;
};

static struct sides sides_in(int width, int height, const ddp_box *b, float first)
{
    float w = (float)b->width * (float)width, h = (float)b->height * (float)height;
    float x = (float)(b->left + b->width / 2) * (float)width;
    float y = (float)(b->top + b->height / 2) * (float)height;
    struct sides s = {.left = (float)((double)x - (double)w / 2. + (double)first),
                      .top = (float)((double)y - (double)h / 2. + (double)first),
                      .right = (float)((double)x + (double)w / 2. + (double)first),
                      .bottom = (float)((double)y + (double)h / 2. + (double)first)};

    s.left = fmaxf(s.left, first);
    s.top = fmaxf(s.top, first);
    s.right = fminf(s.right, (float)width);
    s.bottom = fminf(s.bottom, (float)height);
    return s;
}

static struct sides sides_of(const output *o, const ddp_box *b, float first)
{
    return sides_in(o->width, o->height, b, first);
}

/* ---- one detection, in each format ---- */

/* Print a line of VOC. It names the file up to its last dot. Darknet's ends at the first: of
 * a.1.jpg and a.2.jpg it says a. */
static void print_voc(output *o, const ddp_detection *d)
{
    const char *name = ddp_path_name(o->config->paths[d->picture]), *dot = strrchr(name, '.');
    struct sides s = sides_of(o, &d->box, 1);

    (void)fprintf(o->file, "%.*s %f %f %f %f %f\n",
                  (int)(dot ? (size_t)(dot - name) : strlen(name)), name, d->score, (double)s.left,
                  (double)s.top, (double)s.right, (double)s.bottom);
}

/* Return COCO's number of a picture: it stands behind the last _ of its name, or at the start of a
 * name without _. Returns -1 if the picture has none. */
static int coco_number(const char *path)
{
    const char *name = ddp_path_name(path), *line = strrchr(name, '_');
    const char *digits = line ? line + 1 : name;
    long number = isdigit((unsigned char)*digits) ? strtol(digits, NULL, 10) : -1;

    return number <= INT_MAX ? (int)number : -1;
}

static int compare_numbers(const void *a, const void *b)
{
    const int *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Set *have to 1 if each picture has a number that no other has, else to 0. */
static ddp_status look_at_numbers(const ddp_results_config *config, int *have, ddp_error *err)
{
    size_t count = config->path_count;
    int *numbers = calloc(count + 1, sizeof *numbers);

    if (!numbers)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the numbers of %zu pictures", count);
    for (size_t i = 0; i < count; i++)
        numbers[i] = coco_number(config->paths[i]);
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    *have = count > 0 && numbers[0] >= 0;
    for (size_t i = 1; i < count; i++)
        *have &= numbers[i] != numbers[i - 1];
    free(numbers);
    return DDP_OK;
}

void ddp_results_put_coco(FILE *file, int follows, const char *path, size_t number, int width,
                          int height, const ddp_detection *d)
{
    struct sides s = sides_in(width, height, &d->box, 0);
    int own = path ? coco_number(path) : -1;

    (void)fprintf(file,
                  "%s{\"image_id\":%d, \"category_id\":%d, \"bbox\":[%f, %f, %f, %f], "
                  "\"score\":%f}",
                  follows ? ",\n" : "", own >= 0 ? own : (int)number + 1, coco_ids[d->class_id],
                  (double)s.left, (double)s.top, (double)(s.right - s.left),
                  (double)(s.bottom - s.top), d->score);
}

static void print_coco(output *o, const ddp_detection *d)
{
    ddp_results_put_coco(o->file, o->lines > 0,
                         o->have_numbers ? o->config->paths[d->picture] : NULL, d->picture,
                         o->width, o->height, d);
}

static void print_imagenet(output *o, const ddp_detection *d)
{
    struct sides s = sides_of(o, &d->box, 0);

    (void)fprintf(o->file, "%u %d %f %f %f %f %f\n", d->picture + 1, d->class_id + 1, d->score,
                  (double)s.left, (double)s.top, (double)s.right, (double)s.bottom);
}

/* ---- files ---- */

typedef struct format {
    const char *key; /* eval= of the .data file */
    const char *name,
        *end; /* of the file; of each class's file: what stands around the class's name */
    ddp_written_kind kind;
    ddp_status (*write)(output *o, const ddp_detection *found, size_t count, ddp_error *err);
} format;

static ddp_status cannot_write(const output *o, ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_IO, "cannot write %s: %s", o->path, strerror(errno));
}

static int has_file_per_class(const output *o)
{
    return o->format->kind == DDP_WRITTEN_VOC;
}

/* Write the path of the file, or of class c's if each class has one, to o->path. */
static void name_file(output *o, int c)
{
    const ddp_results_config *config = o->config;

    (void)snprintf(o->path, sizeof o->path, "%s/%s%s%s", config->folder,
                   config->name ? config->name : o->format->name,
                   has_file_per_class(o) ? config->names[c] : "", o->format->end);
}

static ddp_status open_file(output *o, int c, ddp_error *err)
{
    name_file(o, c);
    o->lines = 0;
    o->file = fopen(o->path, "we");
    return o->file ? DDP_OK : cannot_write(o, err);
}

static ddp_status close_file(output *o, ddp_error *err)
{
    FILE *file = o->file;

    o->file = NULL;
    if (ferror(file) | fclose(file))
        return cannot_write(o, err);
    return DDP_OK;
}

static ddp_status print_detection(output *o, const ddp_detection *d,
                                  void (*line)(output *o, const ddp_detection *d), ddp_error *err)
{
    if (o->picture != d->picture || o->width == 0) {
        const char *path = o->config->paths[d->picture];

        if (ddp_picture_size(path, &o->width, &o->height))
            return ddp_fail(err, DDP_ERR_IO, "cannot read the size of %s", path);
        o->picture = d->picture;
    }
    line(o, d);
    o->lines++;
    return DDP_OK;
}

/* Write a file for each class. found is sorted by class. */
static ddp_status write_voc(output *o, const ddp_detection *found, size_t count, ddp_error *err)
{
    size_t i = 0;

    for (int c = 0; c < o->config->classes; c++) {
        if (open_file(o, c, err))
            return err->code;
        for (; i < count && found[i].class_id == c; i++)
            if (print_detection(o, &found[i], print_voc, err))
                return err->code;
        if (close_file(o, err))
            return err->code;
    }
    return DDP_OK;
}

static int by_picture(const void *a, const void *b)
{
    const ddp_detection *const *x = a, *const *y = b;

    if ((*x)->picture != (*y)->picture)
        return (*x)->picture < (*y)->picture ? -1 : 1;
    return (*x > *y) - (*x < *y);
}

/* Write all detections into one file, picture by picture. */
static ddp_status write_one(output *o, const ddp_detection *found, size_t count,
                            void (*line)(output *o, const ddp_detection *d), ddp_error *err)
{
    const ddp_detection **order = calloc(count + 1, sizeof *order);
    ddp_status st = DDP_OK;

    if (!order)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu detections", count);
    for (size_t i = 0; i < count; i++)
        order[i] = &found[i];
    qsort(order, count, sizeof *order, by_picture);
    for (size_t i = 0; i < count && !st; i++)
        st = print_detection(o, order[i], line, err);
    free(order);
    return st;
}

static ddp_status write_coco(output *o, const ddp_detection *found, size_t count, ddp_error *err)
{
    if (open_file(o, 0, err))
        return err->code;
    (void)fputs("[\n", o->file);
    if (write_one(o, found, count, print_coco, err))
        return err->code;
    (void)fputs("\n]\n", o->file);
    return close_file(o, err);
}

static ddp_status write_imagenet(output *o, const ddp_detection *found, size_t count,
                                 ddp_error *err)
{
    if (open_file(o, 0, err) || write_one(o, found, count, print_imagenet, err))
        return err->code;
    return close_file(o, err);
}

/* Return the format of a key; any other key is VOC's, as it is to Darknet. */
static const format *format_of(const char *key)
{
    static const format formats[] = {
        {"coco", "coco_results", ".json", DDP_WRITTEN_COCO, write_coco},
        {"imagenet", "imagenet-detection", ".txt", DDP_WRITTEN_IMAGENET, write_imagenet},
        {"voc", "comp4_det_test_", ".txt", DDP_WRITTEN_VOC, write_voc},
    };
    size_t i = 0;

    while (i < sizeof formats / sizeof formats[0] - 1 && strcmp(formats[i].key, key) != 0)
        i++;
    return &formats[i];
}

/* Check the classes' names, which stand in file names. */
static ddp_status check_names(const output *o, ddp_error *err)
{
    char *const *names = o->config->names;

    for (int c = 0; c < o->config->classes; c++) {
        if (strchr(names[c], '/'))
            return ddp_fail(err, DDP_ERR_USAGE,
                            "results of VOC have a file for each class, and no file can have the "
                            "name %.200s: it has a /",
                            names[c]);
        for (int before = 0; before < c; before++)
            if (strcmp(names[before], names[c]) == 0)
                return ddp_fail(err, DDP_ERR_USAGE,
                                "results of VOC have a file for each class, and classes %d and %d "
                                "have one name, %.200s",
                                before, c, names[c]);
    }
    return DDP_OK;
}

static ddp_status check_classes(const output *o, ddp_error *err)
{
    int classes = o->config->classes;

    if (has_file_per_class(o) && !o->config->names)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "results of VOC have a file for each class, and names= has no %d names",
                        classes);
    if (o->format->kind == DDP_WRITTEN_COCO && classes > DDP_COCO_CLASSES)
        return ddp_fail(err, DDP_ERR_USAGE, "eval=coco is for up to %d classes, and there are %d",
                        DDP_COCO_CLASSES, classes);
    return has_file_per_class(o) ? check_names(o, err) : DDP_OK;
}

ddp_status ddp_results_check(const ddp_results_config *config, ddp_error *err)
{
    output o = {.config = config, .format = format_of(config->format)};
    int files = has_file_per_class(&o) ? config->classes : 1;

    if (check_classes(&o, err))
        return err->code;
    if (mkdir(config->folder, 0777) && errno != EEXIST)
        return ddp_fail(err, DDP_ERR_IO, "cannot make the folder %s: %s", config->folder,
                        strerror(errno));
    for (int c = 0; c < files; c++) {
        name_file(&o, c);
        if (ddp_overwrite_check_file(config->name ? "detector valid -out"
                                                  : "detector valid without -out",
                                     o.path, o.format->kind, err))
            return err->code;
    }
    return DDP_OK;
}

ddp_status ddp_results_write(const ddp_results_config *config, const ddp_detection *found,
                             size_t count, char *written, size_t size, ddp_error *err)
{
    output o = {.config = config, .format = format_of(config->format)};
    ddp_status st = look_at_numbers(config, &o.have_numbers, err);

    if (!st)
        st = o.format->write(&o, found, count, err);
    if (o.file)
        (void)fclose(o.file);
    if (has_file_per_class(&o))
        (void)snprintf(written, size, "%s/%s*%s", config->folder,
                       config->name ? config->name : o.format->name, o.format->end);
    else
        (void)snprintf(written, size, "%s", o.path);
    return st;
}
