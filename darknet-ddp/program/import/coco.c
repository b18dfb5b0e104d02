/* Reads annotations in COCO's JSON, by the library jansson. */
#include "base/path.h"
#include "import/folder.h"
#include "import/picture_file.h"
#include "import/readers.h"

#ifdef DDP_JANSSON

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { WHERE = 512, ID = 64 };

/* One file. */
struct coco {
    ddp_annotations *a;
    const char *path;
    size_t source; /* its index in the set */
    json_t *root;
    json_t *picture_of; /* from an id, as text, to the picture's index */
    json_t *class_of;   /* from an id, as text, to the class's index, or -1 */
};

/* Write the text of an id, a whole number or a string. Returns 0 if it is neither. */
static int id_text(char out[ID], const json_t *id)
{
    if (json_is_string(id))
        (void)snprintf(out, ID, "'%s", json_string_value(id));
    else if (json_is_integer(id))
        (void)snprintf(out, ID, "%" JSON_INTEGER_FORMAT, json_integer_value(id));
    else
        return 0;
    return 1;
}

static void is_broken(const struct coco *c, const char *list, size_t index)
{
    char where[WHERE];

    (void)snprintf(where, sizeof where, "%s: %s[%zu]", c->path, list, index);
    ddp_annotations_add_odd(c->a, DDP_ODD_ENTRY, where);
}

/* ---- classes ---- */

static int by_id(const void *x, const void *y)
{
    json_int_t a = json_integer_value(json_object_get(*(json_t *const *)x, "id"));
    json_int_t b = json_integer_value(json_object_get(*(json_t *const *)y, "id"));

    return (a > b) - (a < b);
}

/* Classes come in the order of their ids. */
static void read_classes(struct coco *c)
{
    const json_t *list = json_object_get(c->root, "categories");
    size_t count = json_array_size(list);
    json_t **sorted = malloc((count + 1) * sizeof *sorted);
    char id[ID];

    if (!sorted) {
        c->a->lost = 1;
        return;
    }
    for (size_t i = 0; i < count; i++)
        sorted[i] = json_array_get(list, i);
    qsort(sorted, count, sizeof *sorted, by_id);
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_object_get(sorted[i], "name"));

        if (!name || !id_text(id, json_object_get(sorted[i], "id"))) {
            is_broken(c, "categories", i);
            continue;
        }
        if (json_object_set_new(c->class_of, id,
                                json_integer(ddp_annotations_add_class(c->a, name, c->path))))
            c->a->lost = 1;
    }
    free(sorted);
}

/* ---- pictures ---- */

static void read_picture(struct coco *c, const json_t *entry, size_t index, char **folders)
{
    const char *name = json_string_value(json_object_get(entry, "file_name"));
    char id[ID];
    size_t at;

    if (!name || !id_text(id, json_object_get(entry, "id")) || json_object_get(c->picture_of, id)) {
        is_broken(c, "images", index);
        return;
    }
    at = ddp_annotations_add_picture(c->a, ddp_folder_find((const char *const *)folders, name),
                                     name, ddp_folder_side(c->path));
    if (json_object_set_new(c->picture_of, id, json_integer((json_int_t)at)))
        c->a->lost = 1;
    if (at < c->a->picture_count) {
        c->a->pictures[at].width = json_number_value(json_object_get(entry, "width"));
        c->a->pictures[at].height = json_number_value(json_object_get(entry, "height"));
        ddp_picture_size_if_unknown(&c->a->pictures[at]);
    }
}

/* Where pictures of annotations/instances_train2017.json may be, from its folder on. */
static const struct place {
    const char *folder;
    int of_set; /* 1: within that, train2017 */
} places[] = {{"", 0},       {"", 1},       {"..", 1},        {"../images", 1},
              {"images", 1}, {"images", 0}, {"../images", 0}, {"..", 0}};

enum { PLACES = sizeof places / sizeof places[0] };

static char *folder_at(const char *beside, const struct place *p, const char *set)
{
    char *folder;

    return asprintf(&folder, "%s/%s/%s", beside, p->folder, p->of_set ? set : "") < 0 ? NULL
                                                                                      : folder;
}

static void read_pictures(struct coco *c, const char *named)
{
    const json_t *list = json_object_get(c->root, "images");
    const char *last = ddp_folder_last(c->path), *part = strchr(last, '_');
    char *beside = ddp_path_folder(c->path), set[WHERE];
    char *folders[PLACES + 1] = {NULL};
    int n = 0;

    (void)snprintf(set, sizeof set, "%s", part ? part + 1 : last);
    set[strcspn(set, ".")] = '\0';
    if (named)
        folders[n++] = strdup(named);
    for (int i = 0; beside && !named && i < PLACES; i++)
        folders[n++] = folder_at(beside, &places[i], set);
    for (size_t i = 0; i < json_array_size(list); i++)
        read_picture(c, json_array_get(list, i), i, folders);
    for (int i = 0; i < n; i++)
        free(folders[i]);
    free(beside);
}

/* ---- boxes ---- */

/* Extend the box by the polygon's points. Returns 0 if it is none. */
static int add_polygon(ddp_annotated_box *b, const json_t *polygon)
{
    size_t count = json_array_size(polygon);

    for (size_t i = 0; i + 1 < count; i += 2) {
        double x = json_number_value(json_array_get(polygon, i));
        double y = json_number_value(json_array_get(polygon, i + 1));

        b->left = fmin(b->left, x);
        b->right = fmax(b->right, x);
        b->top = fmin(b->top, y);
        b->bottom = fmax(b->bottom, y);
    }
    return count >= 6;
}

/* Set the box, in pixels, to that of an entry. Returns 0 if it has none. */
static int read_sides(ddp_annotated_box *b, const json_t *entry)
{
    const json_t *box = json_object_get(entry, "bbox"), *outline;
    double side[4];

    for (size_t i = 0; i < 4; i++) {
        const json_t *number = json_array_get(box, i);

        side[i] = json_is_number(number) ? json_number_value(number) : NAN;
    }
    b->left = side[0];
    b->top = side[1];
    b->right = side[0] + side[2];
    b->bottom = side[1] + side[3];
    if (json_array_size(box) == 4 && isfinite(b->right + b->bottom + b->left + b->top))
        return 1;
    outline = json_object_get(entry, "segmentation");
    *b = (ddp_annotated_box){.picture = b->picture,
                             .class_id = b->class_id,
                             .source = b->source,
                             .object = b->object,
                             .odd = 1U << DDP_ODD_SEGMENTS,
                             .left = INFINITY,
                             .top = INFINITY,
                             .right = -INFINITY,
                             .bottom = -INFINITY};
    for (size_t i = 0; i < json_array_size(outline); i++)
        if (!add_polygon(b, json_array_get(outline, i)))
            return 0;
    return json_array_size(outline) > 0 && isfinite(b->right + b->bottom + b->left + b->top);
}

static void read_box(struct coco *c, const json_t *entry, size_t index)
{
    const json_t *picture = NULL, *class_id = NULL;
    ddp_annotated_box b = {.source = c->source,
                           .object = json_integer_value(json_object_get(entry, "id"))};
    char id[ID];
    double width, height;

    if (id_text(id, json_object_get(entry, "image_id")))
        picture = json_object_get(c->picture_of, id);
    if (id_text(id, json_object_get(entry, "category_id")))
        class_id = json_object_get(c->class_of, id);
    if (class_id && json_integer_value(class_id) < 0) {
        ddp_annotations_add_odd(c->a, DDP_ODD_CLASS, id);
        return;
    }
    b.picture = (size_t)json_integer_value(picture);
    b.class_id = (int)json_integer_value(class_id);
    if (!picture || !class_id || b.picture >= c->a->picture_count || !read_sides(&b, entry)) {
        is_broken(c, "annotations", index);
        return;
    }
    width = c->a->pictures[b.picture].width;
    height = c->a->pictures[b.picture].height;
    if (width <= 0 || height <= 0) /* a picture that is left out */
        return;
    if (json_integer_value(json_object_get(entry, "iscrowd")) != 0)
        b.odd |= 1U << DDP_ODD_CROWD;
    b.left /= width;
    b.right /= width;
    b.top /= height;
    b.bottom /= height;
    ddp_annotations_add_box(c->a, &b);
}

/* ---- files ---- */

static int is_coco(const json_t *root)
{
    return json_is_array(json_object_get(root, "images"))
           && json_is_array(json_object_get(root, "annotations"));
}

/* any: 1: a file of another kind is passed over, and one that cannot be read is counted. */
static ddp_status read_file(ddp_annotations *a, const char *path, const char *pictures, int any,
                            int *found, ddp_error *err)
{
    json_error_t why;
    struct coco c = {.a = a, .path = path, .root = json_load_file(path, 0, &why)};
    const json_t *boxes;

    if (!c.root && !any)
        return ddp_fail(
            err, json_error_code(&why) == json_error_cannot_open_file ? DDP_ERR_IO : DDP_ERR_FORMAT,
            "%s:%d: %s", path, why.line > 0 ? why.line : 1, why.text);
    if (!c.root)
        ddp_annotations_add_odd(a, DDP_ODD_ENTRY, path);
    if (c.root && !is_coco(c.root) && !any) {
        json_decref(c.root);
        return ddp_fail(err, DDP_ERR_FORMAT,
                        "%s is no COCO file: it has no lists \"images\" and \"annotations\"", path);
    }
    if (c.root && is_coco(c.root)) {
        *found = 1;
        a->object_word = "annotation id";
        c.source = ddp_annotations_add_source(a, path);
        c.picture_of = json_object();
        c.class_of = json_object();
        a->lost |= !c.picture_of || !c.class_of;
        read_classes(&c);
        read_pictures(&c, pictures);
        boxes = json_object_get(c.root, "annotations");
        for (size_t i = 0; i < json_array_size(boxes); i++)
            read_box(&c, json_array_get(boxes, i), i);
        json_decref(c.picture_of);
        json_decref(c.class_of);
    }
    json_decref(c.root);
    return DDP_OK;
}

ddp_status ddp_coco_read(ddp_annotations *a, const ddp_import_source *source, ddp_error *err)
{
    struct stat info;
    ddp_folder files;
    ddp_status st;
    int found = 0;

    if (stat(source->path, &info) == 0 && !S_ISDIR(info.st_mode))
        return read_file(a, source->path, source->pictures, 0, &found, err);
    st = ddp_folder_list(&files, source->path, ".json", err);
    for (size_t i = 0; !st && i < files.count; i++)
        st = read_file(a, files.paths[i], source->pictures, 1, &found, err);
    ddp_folder_release(&files);
    if (!st && !found)
        return ddp_fail(err, DDP_ERR_FORMAT,
                        "%s has no COCO file: no .json with lists \"images\" and \"annotations\"",
                        source->path);
    return st;
}

#endif
