#include "import/write.h"

#include "base/file.h"
#include "import/folder.h"
#include "import/picture_names.h"
#include "samples/transforms.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder, and the names that pictures get in its images/. */
struct place {
    const ddp_annotations *a;
    const char *folder;
    char **names; /* of each picture of the set; NULL: it is left out */
};

static ddp_status cannot_write(const char *path, ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_IO, "cannot write %s: %s", path, strerror(errno));
}

static ddp_status no_memory(ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the names of pictures");
}

/* ---- folders ---- */

/* Make the folder, and those that it is in. */
static ddp_status make_folder(char *path, ddp_error *err)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0777);
        *slash = '/';
    }
    return mkdir(path, 0777) && errno != EEXIST ? cannot_write(path, err) : DDP_OK;
}

/* Look that the folder is empty, or is not there. */
static ddp_status see_empty(const char *folder, ddp_error *err)
{
    DIR *d = opendir(folder);
    const struct dirent *entry = NULL;

    while (d && (entry = readdir(d)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            break;
    if (d)
        (void)closedir(d);
    if (entry)
        return ddp_fail(err, DDP_ERR_USAGE, "-o %s is there, and not empty: name another folder",
                        folder);
    return DDP_OK;
}

/* Darknet finds a label file by the picture's path: see that it finds it in labels/. */
static ddp_status see_labels(const char *folder, ddp_error *err)
{
    char found[DDP_LABEL_PATH_BYTES], *picture, *own = NULL;
    int is_own = 1;

    if (asprintf(&picture, "%s/images/a.jpg", folder) < 0)
        return no_memory(err);
    if (asprintf(&own, "%s/labels/a.txt", folder) >= 0) {
        ddp_label_path(picture, found);
        is_own = strcmp(own, found) == 0;
        free(own);
    }
    free(picture);
    if (is_own)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "-o %s: Darknet takes the first `images` of a path for the folder of pictures, "
                    "and so would look for a label file at %s: name another folder",
                    folder, found);
}

static ddp_status make_folders(const struct place *p, ddp_error *err)
{
    static const char *const within[] = {"images", "labels", "sources", "backup"};
    ddp_status st = see_empty(p->folder, err);

    if (!st)
        st = see_labels(p->folder, err);
    for (size_t i = 0; !st && i < sizeof within / sizeof *within; i++) {
        char *path = ddp_folder_join(p->folder, within[i]);

        st = path ? make_folder(path, err) : no_memory(err);
        free(path);
    }
    return st;
}

/* ---- pictures and labels ---- */

static ddp_status put_picture(const char *at, const char *from, int copies, ddp_error *err)
{
    char *whole;
    ddp_status st = DDP_OK;

    if (copies)
        return ddp_file_copy(at, from, err);
    whole = realpath(from, NULL);
    if (!whole || symlink(whole, at))
        st = cannot_write(at, err);
    free(whole);
    return st;
}

static ddp_status write_labels(const char *at, const ddp_annotated_box *boxes, size_t count,
                               ddp_error *err)
{
    FILE *out = fopen(at, "w");
    int failed;

    if (!out)
        return cannot_write(at, err);
    for (size_t i = 0; i < count; i++) {
        const ddp_annotated_box *b = &boxes[i];

        (void)fprintf(out, "%d %.8f %.8f %.8f %.8f\n", b->class_id, (b->left + b->right) / 2,
                      (b->top + b->bottom) / 2, b->right - b->left, b->bottom - b->top);
    }
    failed = ferror(out);
    failed |= fclose(out);
    return failed ? cannot_write(at, err) : DDP_OK;
}

/* Write which object of which annotation file each line of a picture's label file is. */
static ddp_status write_sources(const struct place *p, const char *name,
                                const ddp_annotated_box *boxes, size_t count, ddp_error *err)
{
    ddp_status st = DDP_OK;
    char *at;
    FILE *out;

    if (asprintf(&at, "%s/sources/%.*s.txt", p->folder, (int)ddp_picture_stem(name), name) < 0)
        return no_memory(err);
    out = fopen(at, "w");
    for (size_t i = 0; out && i < count; i++)
        (void)fprintf(out, "%s\t%s %lld\n", p->a->sources[boxes[i].source], p->a->object_word,
                      boxes[i].object);
    if (!out || (ferror(out) | fclose(out)))
        st = cannot_write(at, err);
    free(at);
    return st;
}

static ddp_status write_pictures(const struct place *p, int copies, ddp_error *err)
{
    const ddp_annotated_box *box = p->a->boxes;
    char label[DDP_LABEL_PATH_BYTES], *picture;
    ddp_status st = DDP_OK;

    for (size_t i = 0; !st && i < p->a->picture_count; i++) {
        if (!p->names[i])
            continue;
        if (asprintf(&picture, "%s/images/%s", p->folder, p->names[i]) < 0)
            return no_memory(err);
        ddp_label_path(picture, label);
        st = put_picture(picture, p->a->pictures[i].path, copies, err);
        if (!st)
            st = write_labels(label, box, p->a->pictures[i].boxes, err);
        if (!st)
            st = write_sources(p, p->names[i], box, p->a->pictures[i].boxes, err);
        box += p->a->pictures[i].boxes;
        free(picture);
    }
    return st;
}

/* ---- lists, names, .data file ---- */

static void write_list(const struct place *p, ddp_side side, FILE *out, size_t *count)
{
    for (size_t i = 0; i < p->a->picture_count; i++)
        if (p->names[i] && p->a->pictures[i].side == side) {
            (void)fprintf(out, "%s/images/%s\n", p->folder, p->names[i]);
            (*count)++;
        }
}

static void write_data(const struct place *p, FILE *out, const char *name, int has_valid)
{
    (void)fprintf(out, "classes=%zu\ntrain=%s/train.list\n", p->a->class_count, p->folder);
    if (has_valid)
        (void)fprintf(out, "valid=%s/valid.list\n", p->folder);
    (void)fprintf(out, "names=%s/%s.names\nbackup=%s/backup\n", p->folder, name, p->folder);
}

enum text { TRAIN, VALID, NAMES, DATA, TEXTS };

static ddp_status write_text(const struct place *p, enum text which, const char *path,
                             const char *name, ddp_import_written *written, ddp_error *err)
{
    FILE *out = fopen(path, "w");
    int failed;

    if (!out)
        return cannot_write(path, err);
    if (which == TRAIN)
        write_list(p, DDP_SIDE_TRAIN, out, &written->train);
    else if (which == VALID)
        write_list(p, DDP_SIDE_VALID, out, &written->valid);
    else if (which == DATA)
        write_data(p, out, name, written->valid > 0);
    for (size_t i = 0; which == NAMES && i < p->a->class_count; i++)
        (void)fprintf(out, "%s\n", p->a->classes[i]);
    failed = ferror(out);
    failed |= fclose(out);
    return failed ? cannot_write(path, err) : DDP_OK;
}

static ddp_status write_texts(const struct place *p, ddp_import_written *written, ddp_error *err)
{
    const char *name = ddp_folder_last(p->folder);
    ddp_status st = DDP_OK;

    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || !*name)
        name = "data";
    for (int which = 0; !st && which < TEXTS; which++) {
        static const char *const fixed[] = {"train", "valid"}, *const endings[] = {".list", ".list",
                                                                                   ".names",
                                                                                   ".data"};
        char *path;

        if (asprintf(&path, "%s/%s%s", p->folder, which < NAMES ? fixed[which] : name,
                     endings[which])
            < 0)
            return no_memory(err);
        st = write_text(p, (enum text)which, path, name, written, err);
        if (which == DATA)
            written->data = path;
        else
            free(path);
    }
    return st;
}

ddp_status ddp_import_write(const ddp_annotations *a, const char *folder, int copies,
                            ddp_import_written *written, ddp_error *err)
{
    char *plain = strdup(folder);
    struct place p = {.a = a, .folder = plain, .names = ddp_picture_names(a)};
    ddp_status st = DDP_OK;

    *written = (ddp_import_written){0};
    if (!plain || !p.names)
        st = no_memory(err);
    for (size_t n = plain ? strlen(plain) : 0; n > 1 && plain[n - 1] == '/';)
        plain[--n] = '\0';
    if (!st)
        st = make_folders(&p, err);
    if (!st)
        st = write_pictures(&p, copies, err);
    if (!st)
        st = write_texts(&p, written, err);
    ddp_picture_names_free(p.names, a);
    free(plain);
    return st;
}
