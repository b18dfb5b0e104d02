/* Reads Ultralytics' data.yaml, by the library libyaml, and the label files of its pictures. */
#include "base/file.h"
#include "base/path.h"
#include "import/folder.h"
#include "import/readers.h"
#include "text/line.h"
#include "text/words.h"

#ifdef DDP_YAML

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

enum { WHERE = 512 };

/* The file while it is read. */
struct yolo {
    ddp_annotations *a;
    const char *path;
    yaml_document_t yaml;
    char *folder, *root; /* of the file; and what its `path` says, from there */
    int *classes;        /* from a number of the labels to the class's index, or -1 */
    size_t class_count;
};

/* ---- YAML ---- */

/* Return the text of a scalar; NULL: it is none. */
static const char *text_of(const yaml_node_t *node)
{
    return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

/* Return the value of a key of the file's mapping; NULL: there is none. */
static yaml_node_t *value_of(yaml_document_t *yaml, const char *key)
{
    yaml_node_t *root = yaml_document_get_root_node(yaml);

    if (!root || root->type != YAML_MAPPING_NODE)
        return NULL;
    for (yaml_node_pair_t *p = root->data.mapping.pairs.start; p < root->data.mapping.pairs.top;
         p++) {
        const char *name = text_of(yaml_document_get_node(yaml, p->key));

        if (name && strcmp(name, key) == 0)
            return yaml_document_get_node(yaml, p->value);
    }
    return NULL;
}

/* ---- classes: names: [a, b], or names: {0: a, 1: b} ---- */

static void add_class(struct yolo *y, size_t number, const char *name)
{
    size_t count = number < y->class_count ? y->class_count : number + 1;
    int *grown = reallocarray(y->classes, count, sizeof *grown);

    if (!grown) {
        y->a->lost = 1;
        return;
    }
    y->classes = grown;
    for (; y->class_count < count; y->class_count++)
        grown[y->class_count] = -1;
    grown[number] = ddp_annotations_add_class(y->a, name, y->path);
}

static ddp_status read_classes(struct yolo *y, ddp_error *err)
{
    yaml_node_t *names = value_of(&y->yaml, "names");
    size_t most = 100000;

    if (names && names->type == YAML_SEQUENCE_NODE) {
        yaml_node_item_t *item = names->data.sequence.items.start;

        for (size_t i = 0; item < names->data.sequence.items.top; item++, i++) {
            const char *name = text_of(yaml_document_get_node(&y->yaml, *item));

            if (name)
                add_class(y, i, name);
        }
    } else if (names && names->type == YAML_MAPPING_NODE) {
        for (size_t number = 0; number < most && number <= y->class_count; number++)
            for (yaml_node_pair_t *p = names->data.mapping.pairs.start;
                 p < names->data.mapping.pairs.top; p++) {
                const char *key = text_of(yaml_document_get_node(&y->yaml, p->key));
                const char *name = text_of(yaml_document_get_node(&y->yaml, p->value));

                if (key && name && strtoul(key, NULL, 10) == number)
                    add_class(y, number, name);
            }
    }
    if (y->class_count == 0)
        return ddp_fail(err, DDP_ERR_FORMAT, "%s has no names: of classes", y->path);
    return DDP_OK;
}

/* ---- labels ---- */

/* Write the label file's path: .../labels/NAME.txt for a picture in .../images/. */
static char *label_of(const char *picture)
{
    const char *last = NULL, *dot = strrchr(picture, '.');
    char *path;

    for (const char *at = picture; (at = strstr(at, "/images/")); at++)
        last = at;
    if (!last)
        return asprintf(&path, "%.*s.txt", (int)(dot - picture), picture) < 0 ? NULL : path;
    return asprintf(&path, "%.*s/labels/%.*s.txt", (int)(last - picture), picture,
                    (int)(dot - last - 8), last + 8)
                   < 0
               ? NULL
               : path;
}

/* Read up to `most` numbers of a line. Returns how many there are; -1: a word is no number. */
static int read_numbers(char *line, double *numbers, int most)
{
    int count = 0;
    double value;
    char *word;

    while ((word = ddp_word_next(&line))) {
        if (!ddp_word_number(word, &value))
            return -1;
        if (count < most)
            numbers[count] = value;
        count++;
    }
    return count;
}

enum { NUMBERS = 4096 }; /* of a line: an outline of 2,047 points */

/* Set the box to that of a line: its centre and size, or an outline of at least three points. */
static int read_sides(ddp_annotated_box *b, const double *number, int count)
{
    if (count == 4) {
        b->left = number[0] - number[2] / 2;
        b->right = number[0] + number[2] / 2;
        b->top = number[1] - number[3] / 2;
        b->bottom = number[1] + number[3] / 2;
        return 1;
    }
    if (count < 6 || count % 2 || count > NUMBERS)
        return 0;
    b->odd = 1U << DDP_ODD_SEGMENTS;
    b->left = b->right = number[0];
    b->top = b->bottom = number[1];
    for (int i = 2; i < count; i += 2) {
        b->left = fmin(b->left, number[i]);
        b->right = fmax(b->right, number[i]);
        b->top = fmin(b->top, number[i + 1]);
        b->bottom = fmax(b->bottom, number[i + 1]);
    }
    return 1;
}

/* Add the box of a line. b: its picture and source are set. */
static void read_line(struct yolo *y, char *line, ddp_annotated_box b, const char *where)
{
    static double number[NUMBERS + 1];
    int count = read_numbers(line, number, NUMBERS + 1);

    if (count == 0)
        return;
    if (count < 0 || number[0] < 0 || number[0] != floor(number[0])
        || !read_sides(&b, number + 1, count - 1)) {
        ddp_annotations_add_odd(y->a, DDP_ODD_ENTRY, where);
        return;
    }
    if (number[0] >= (double)y->class_count || y->classes[(size_t)number[0]] < 0) {
        ddp_annotations_add_odd(y->a, DDP_ODD_CLASS, where);
        return;
    }
    b.class_id = y->classes[(size_t)number[0]];
    ddp_annotations_add_box(y->a, &b);
}

/* A picture without a label file shows nothing. */
static void read_labels(struct yolo *y, size_t picture, const char *path)
{
    char *label = label_of(path), *line = NULL, where[WHERE];
    FILE *in = label ? fopen(label, "r") : NULL;
    ddp_annotated_box b = {.picture = picture};
    size_t room = 0;

    y->a->lost |= !label;
    if (in)
        b.source = ddp_annotations_add_source(y->a, label);
    for (int n = 1; in && getline(&line, &room, in) >= 0; n++) {
        (void)snprintf(where, sizeof where, "%s:%d", label, n);
        b.object = n;
        read_line(y, line, b, where);
    }
    if (in)
        (void)fclose(in);
    free(line);
    free(label);
}

static void add_picture(struct yolo *y, char *path, ddp_side side)
{
    size_t at = ddp_annotations_add_picture(y->a, path, path, side);

    if (at < y->a->picture_count)
        read_labels(y, at, y->a->pictures[at].path);
}

/* ---- train:, val:, test: a folder, a list, or several ---- */

/* Roboflow writes ../train/images for train/images: where the former is not there, it is that. */
static char *place_of(const struct yolo *y, const char *named)
{
    char *path = ddp_folder_join(y->root, named);
    struct stat info;

    if (path && stat(path, &info) && strncmp(named, "../", 3) == 0) {
        free(path);
        path = ddp_folder_join(y->root, named + 3);
    }
    return path;
}

static ddp_status read_list(struct yolo *y, const char *list, ddp_side side, ddp_error *err)
{
    FILE *in = fopen(list, "r");
    char *line = NULL;
    size_t room = 0;

    if (!in)
        return ddp_fail(err, DDP_ERR_IO, "%s: cannot read %s: %s", y->path, list, strerror(errno));
    while (getline(&line, &room, in) >= 0) {
        const char *const folders[] = {y->root, y->folder, NULL};
        char *path;

        if (!ddp_line_cut(line))
            continue;
        path = ddp_folder_find(folders, line);
        if (path && strrchr(ddp_folder_last(path), '.'))
            add_picture(y, path, side);
        else {
            free(path);
            (void)ddp_annotations_add_picture(y->a, NULL, line, side);
        }
    }
    free(line);
    (void)fclose(in);
    return DDP_OK;
}

static ddp_status read_place(struct yolo *y, const char *named, ddp_side side, ddp_error *err)
{
    char *place = place_of(y, named);
    struct stat info;
    ddp_folder files = {0};
    ddp_status st;

    if (!place)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the pictures' names");
    if (stat(place, &info) == 0 && !S_ISDIR(info.st_mode))
        st = read_list(y, place, side, err);
    else
        st = ddp_folder_list(&files, place, ddp_folder_pictures, err);
    for (size_t i = 0; !st && i < files.count; i++) {
        add_picture(y, files.paths[i], side);
        files.paths[i] = NULL;
    }
    ddp_folder_release(&files);
    free(place);
    return st;
}

static ddp_status read_side(struct yolo *y, const char *key, ddp_side side, ddp_error *err)
{
    yaml_node_t *value = value_of(&y->yaml, key);
    const char *one = text_of(value);
    ddp_status st = DDP_OK;

    if (one && *one)
        return read_place(y, one, side, err);
    if (value && value->type == YAML_SEQUENCE_NODE)
        for (yaml_node_item_t *item = value->data.sequence.items.start;
             !st && item < value->data.sequence.items.top; item++) {
            one = text_of(yaml_document_get_node(&y->yaml, *item));
            if (one)
                st = read_place(y, one, side, err);
        }
    return st;
}

static ddp_status read_sides_of(struct yolo *y, ddp_error *err)
{
    static const struct {
        const char *key;
        ddp_side side;
    } keys[] = {{"train", DDP_SIDE_TRAIN}, {"val", DDP_SIDE_VALID}, {"test", DDP_SIDE_TEST}};
    const char *root = text_of(value_of(&y->yaml, "path"));
    struct stat info;

    if (!value_of(&y->yaml, "train"))
        return ddp_fail(err, DDP_ERR_FORMAT, "%s has no train:", y->path);
    y->folder = ddp_path_folder(y->path);
    y->root = y->folder ? ddp_folder_join(y->folder, root ? root : "") : NULL;
    if (!y->folder || !y->root)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the pictures' names");
    if (root && stat(y->root, &info)) { /* another machine's, or from where training began */
        free(y->root);
        y->root = strdup(stat(root, &info) == 0 ? root : y->folder);
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (y->root && read_side(y, keys[i].key, keys[i].side, err)
            && keys[i].side != DDP_SIDE_TEST) /* which may be missing: it is left out anyway */
            return err->code;
    return DDP_OK;
}

/* ---- the file ---- */

static ddp_status load(struct yolo *y, ddp_error *err)
{
    FILE *in = fopen(y->path, "r");
    yaml_parser_t parser;
    int is_read;

    if (!in)
        return ddp_fail(err, DDP_ERR_IO, "cannot read %s: %s", y->path, strerror(errno));
    if (!yaml_parser_initialize(&parser)) {
        (void)fclose(in);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %s", y->path);
    }
    yaml_parser_set_input_file(&parser, in);
    is_read = yaml_parser_load(&parser, &y->yaml);
    if (!is_read)
        (void)ddp_fail(err, DDP_ERR_FORMAT, "%s:%zu: %s", y->path, parser.problem_mark.line + 1,
                       parser.problem ? parser.problem : "cannot be read as YAML");
    yaml_parser_delete(&parser);
    (void)fclose(in);
    return is_read ? DDP_OK : err->code;
}

static ddp_status read_yaml(ddp_annotations *a, const char *path, ddp_error *err)
{
    struct yolo y = {.a = a, .path = path};
    ddp_status st = load(&y, err);

    if (st)
        return st;
    st = read_classes(&y, err);
    if (!st)
        st = read_sides_of(&y, err);
    yaml_document_delete(&y.yaml);
    free(y.folder);
    free(y.root);
    free(y.classes);
    return st;
}

ddp_status ddp_yolo_read(ddp_annotations *a, const ddp_import_source *source, ddp_error *err)
{
    struct stat info;
    ddp_folder files;
    ddp_status st;

    a->object_word = "line";
    if (stat(source->path, &info) == 0 && !S_ISDIR(info.st_mode))
        return read_yaml(a, source->path, err);
    st = ddp_folder_list(&files, source->path, ".yaml .yml", err);
    if (!st && files.count == 0)
        st = ddp_fail(err, DDP_ERR_FORMAT, "%s has no .yaml file", source->path);
    else if (!st && files.count > 1)
        st = ddp_fail(err, DDP_ERR_USAGE,
                      "%s has %zu .yaml files, %s for one: name the one that is meant",
                      source->path, files.count, files.paths[0]);
    if (!st)
        st = read_yaml(a, files.paths[0], err);
    ddp_folder_release(&files);
    return st;
}

#endif
