/* Reads annotations in Pascal VOC's XML, by the library expat. */
#include "base/file.h"
#include "base/path.h"
#include "import/folder.h"
#include "import/picture_file.h"
#include "import/readers.h"

#ifdef DDP_EXPAT

#include <expat.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TEXT = 1024, PATH = 256, FILE_BYTES = 16 << 20 };

/* One object of a file. */
struct object {
    char name[TEXT];
    double side[4]; /* xmin, ymin, xmax, ymax; NAN: not there */
    int difficult;
    long long line; /* of the file, on which it begins */
};

/* One file while it is read. */
struct voc {
    ddp_annotations *a;
    XML_Parser parser;
    const char *xml; /* path of the file */
    const char
        *pictures;   /* NULL: beside the file, or in JPEGImages/ or images/ beside its folder */
    char at[PATH];   /* where the parser is: "/annotation/object/name" */
    size_t too_deep; /* elements that `at` has no room for */
    char text[TEXT]; /* of the element so far */
    char file_name[TEXT];
    double width, height;
    struct object object, *objects; /* the one that is read, and those read */
    size_t count, room;
};

static const char *const sides[] = {"xmin", "ymin", "xmax", "ymax"};

static void clear_object(struct object *o)
{
    *o = (struct object){.side = {NAN, NAN, NAN, NAN}};
}

static void begin(void *self, const char *name, const char **attributes)
{
    struct voc *v = self;
    size_t length = strlen(v->at);

    (void)attributes;
    v->text[0] = '\0';
    if (v->too_deep || length + strlen(name) + 2 > sizeof v->at) {
        v->too_deep++;
        return;
    }
    v->at[length] = '/';
    memcpy(v->at + length + 1, name, strlen(name) + 1);
    if (strcmp(v->at, "/annotation/object") == 0) {
        clear_object(&v->object);
        v->object.line = (long long)XML_GetCurrentLineNumber(v->parser);
    }
}

static void add_text(void *self, const char *bytes, int count)
{
    struct voc *v = self;
    size_t length = strlen(v->text), room = sizeof v->text - 1 - length;
    size_t n = (size_t)count < room ? (size_t)count : room;

    memcpy(v->text + length, bytes, n);
    v->text[length + n] = '\0';
}

static char *without_blanks(char *text)
{
    size_t length;

    text += strspn(text, " \t\r\n");
    length = strlen(text);
    while (length > 0 && strchr(" \t\r\n", text[length - 1]))
        text[--length] = '\0';
    return text;
}

static double number(const char *text)
{
    char *rest;
    double value = strtod(text, &rest);

    return rest == text || *rest || !isfinite(value) ? NAN : value;
}

static void add_object(struct voc *v)
{
    if (v->count == v->room) {
        size_t room = v->room ? 2 * v->room : 16;
        struct object *grown = reallocarray(v->objects, room, sizeof *grown);

        if (!grown) {
            v->a->lost = 1;
            return;
        }
        v->objects = grown;
        v->room = room;
    }
    v->objects[v->count++] = v->object;
}

/* The element at v->at has this text. */
static void take(struct voc *v, const char *text)
{
    if (strcmp(v->at, "/annotation/filename") == 0)
        (void)snprintf(v->file_name, sizeof v->file_name, "%s", text);
    else if (strcmp(v->at, "/annotation/size/width") == 0)
        v->width = number(text);
    else if (strcmp(v->at, "/annotation/size/height") == 0)
        v->height = number(text);
    else if (strcmp(v->at, "/annotation/object/name") == 0)
        (void)snprintf(v->object.name, sizeof v->object.name, "%s", text);
    else if (strcmp(v->at, "/annotation/object/difficult") == 0)
        v->object.difficult = strcmp(text, "1") == 0;
    else if (strcmp(v->at, "/annotation/object") == 0)
        add_object(v);
    for (int i = 0; i < 4; i++)
        if (strncmp(v->at, "/annotation/object/bndbox/", 26) == 0
            && strcmp(v->at + 26, sides[i]) == 0)
            v->object.side[i] = number(text);
}

static void end(void *self, const char *name)
{
    struct voc *v = self;
    char *slash = strrchr(v->at, '/');

    (void)name;
    if (v->too_deep) {
        v->too_deep--;
        return;
    }
    take(v, without_blanks(v->text));
    v->text[0] = '\0';
    if (slash)
        *slash = '\0';
}

/* ---- a file ---- */

/* Find the picture by <filename>, or by the name of the XML file. */
static char *find_picture(const struct voc *v, char *named)
{
    char *beside = ddp_path_folder(v->xml), *places[5] = {NULL}, *path = NULL;
    const char *last = ddp_folder_last(v->xml);
    int n = 0;

    if (v->pictures)
        places[n++] = strdup(v->pictures);
    for (int i = 0; beside && !v->pictures && i < 4; i++) {
        static const char *const folders[] = {".", "../JPEGImages", "../images", ".."};

        places[n++] = ddp_folder_join(beside, folders[i]);
    }
    (void)snprintf(named, TEXT, "%s", v->file_name);
    if (*v->file_name)
        path = ddp_folder_find((const char *const *)places, v->file_name);
    for (const char *ending = ddp_folder_pictures; !path && *ending;) {
        int bytes = (int)strcspn(ending, " ");

        (void)snprintf(named, TEXT, "%.*s%.*s", (int)(strrchr(last, '.') - last), last, bytes,
                       ending);
        path = ddp_folder_find((const char *const *)places, named);
        ending += bytes + (ending[bytes] == ' ');
    }
    if (!path)
        (void)snprintf(named, TEXT, "%s", *v->file_name ? v->file_name : last);
    for (int i = 0; i < n; i++)
        free(places[i]);
    free(beside);
    return path;
}

static void add_boxes(struct voc *v, size_t picture)
{
    const ddp_annotated_picture *p = &v->a->pictures[picture];
    size_t source = ddp_annotations_add_source(v->a, v->xml);

    for (size_t i = 0; i < v->count; i++) {
        const struct object *o = &v->objects[i];
        double sum = o->side[0] + o->side[1] + o->side[2] + o->side[3];
        int class_id;

        if (!*o->name || !isfinite(sum)) {
            ddp_annotations_add_odd(v->a, DDP_ODD_ENTRY, v->xml);
            continue;
        }
        class_id = ddp_annotations_add_class(v->a, o->name, v->xml);
        if (class_id < 0 || p->width <= 0 || p->height <= 0)
            continue;
        ddp_annotations_add_box(
            v->a, &(ddp_annotated_box){.picture = picture,
                                       .class_id = class_id,
                                       .source = source,
                                       .object = o->line,
                                       .odd = (unsigned)o->difficult << DDP_ODD_DIFFICULT,
                                       .left = o->side[0] / p->width,
                                       .top = o->side[1] / p->height,
                                       .right = o->side[2] / p->width,
                                       .bottom = o->side[3] / p->height});
    }
}

static int parse(struct voc *v, const void *bytes, size_t count)
{
    XML_Parser parser = XML_ParserCreate(NULL);
    int is_read;

    if (!parser) {
        v->a->lost = 1;
        return 0;
    }
    v->parser = parser;
    XML_SetUserData(parser, v);
    XML_SetElementHandler(parser, begin, end);
    XML_SetCharacterDataHandler(parser, add_text);
    is_read = XML_Parse(parser, bytes, (int)count, 1) == XML_STATUS_OK;
    XML_ParserFree(parser);
    return is_read;
}

/* Read a file. An XML file that is no annotation is passed over. Returns 1 if it was one. */
static int read_file(ddp_annotations *a, const char *xml, const char *pictures, ddp_side side)
{
    struct voc v = {.a = a, .xml = xml, .pictures = pictures};
    void *bytes = NULL;
    size_t count = 0, at;
    uint64_t size;
    char named[TEXT];
    ddp_error why;
    int is_read = !ddp_file_read(xml, FILE_BYTES, &bytes, &count, &size, &why) && size == count;
    int is_annotation = 0;

    if (is_read)
        is_read = parse(&v, bytes, count);
    free(bytes);
    is_annotation = is_read && (*v.file_name || v.count > 0);
    if (is_annotation) {
        char *path = find_picture(&v, named);

        at = ddp_annotations_add_picture(a, path, named, side);
        if (at < a->picture_count) {
            a->pictures[at].width = v.width > 0 ? v.width : 0;
            a->pictures[at].height = v.height > 0 ? v.height : 0;
            ddp_picture_size_if_unknown(&a->pictures[at]);
            add_boxes(&v, at);
        }
    } else
        ddp_annotations_add_odd(a, DDP_ODD_ENTRY, xml);
    free(v.objects);
    return is_annotation;
}

/* ---- a folder ---- */

/* Return 1 if the lines of a list, "NAME" or "NAME 1", have the name. */
static int has_name(const char *list, const char *name, size_t length)
{
    for (const char *line = list; line; line = strchr(line, '\n'), line += line != NULL) {
        size_t n = strcspn(line, " \t\r\n");

        if (n == length && strncmp(line, name, n) == 0)
            return 1;
    }
    return 0;
}

struct sets {
    char *text[4]; /* by ddp_side: ImageSets/Main's list; NULL: there is none */
};

static void read_sets(struct sets *s, const char *folder)
{
    static const char *const names[] = {NULL, "train.txt", "val.txt", "test.txt"};

    for (int side = DDP_SIDE_TRAIN; side <= DDP_SIDE_TEST; side++) {
        char *path;
        void *bytes = NULL;
        size_t count;
        uint64_t size;
        ddp_error why;

        if (asprintf(&path, "%s/ImageSets/Main/%s", folder, names[side]) < 0)
            continue;
        if (!ddp_file_read(path, SIZE_MAX, &bytes, &count, &size, &why))
            s->text[side] = bytes;
        free(path);
    }
}

static ddp_side side_of(const struct sets *s, const char *xml)
{
    const char *last = ddp_folder_last(xml);
    size_t length = (size_t)(strrchr(last, '.') - last);
    int any = 0;

    for (int side = DDP_SIDE_TRAIN; side <= DDP_SIDE_TEST; side++) {
        any |= s->text[side] != NULL;
        if (s->text[side] && has_name(s->text[side], last, length))
            return (ddp_side)side;
    }
    return any ? DDP_SIDE_UNKNOWN : ddp_folder_side(xml);
}

ddp_status ddp_voc_read(ddp_annotations *a, const ddp_import_source *source, ddp_error *err)
{
    struct sets sets = {{NULL}};
    ddp_folder files;
    ddp_status st;
    size_t found = 0;
    struct stat info;

    if (stat(source->path, &info) == 0 && !S_ISDIR(info.st_mode))
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%s is a file: Pascal VOC has an .xml for each picture; name their folder",
                        source->path);
    a->object_word = "line";
    read_sets(&sets, source->path);
    st = ddp_folder_list(&files, source->path, ".xml", err);
    for (size_t i = 0; !st && i < files.count; i++)
        found +=
            (size_t)read_file(a, files.paths[i], source->pictures, side_of(&sets, files.paths[i]));
    ddp_folder_release(&files);
    for (int i = 0; i < 4; i++)
        free(sets.text[i]);
    if (!st && found == 0)
        return ddp_fail(err, DDP_ERR_FORMAT, "%s has no .xml file of Pascal VOC", source->path);
    ddp_annotations_sort_classes(a);
    return st;
}

#endif
