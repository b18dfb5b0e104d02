#include "check/lists.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A line of a list, for sorting by its text. */
struct entry {
    const char *path;
    size_t number;
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = strcmp(x->path, y->path);

    return order ? order : (x->number > y->number) - (x->number < y->number);
}

void ddp_check_duplicates(ddp_faults *f, const ddp_list_lines *list)
{
    struct entry *entries = calloc(list->count + 1, sizeof *entries);

    if (!entries) {
        f->lost = 1;
        return;
    }
    for (size_t i = 0; i < list->count; i++)
        entries[i] = (struct entry){list->all[i], list->numbers[i]};
    qsort(entries, list->count, sizeof *entries, compare_entries);
    for (size_t i = 1, first = 0; i < list->count; i++) {
        if (strcmp(entries[i].path, entries[first].path) != 0)
            first = i;
        else
            ddp_fault_add(f, DDP_FAULT_WARNING, "list-twice", list->file, (int)entries[i].number,
                          "%s stands in line %zu, too", entries[i].path, entries[first].number);
    }
    free(entries);
}

/* ---- two lists ---- */

/* The folder of the path before; most paths have the same. */
struct folder {
    char name[PATH_MAX], real[PATH_MAX];
};

/* Return the path with its folder's real name, which the caller frees. NULL: no memory. */
static char *real_path(const char *path, struct folder *last)
{
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash + 1 - path) : 0;
    char name[PATH_MAX], *real;

    (void)snprintf(name, sizeof name, "%.*s", length ? length : 1, length ? path : ".");
    if (strcmp(name, last->name) != 0) {
        (void)strcpy(last->name, name);
        if (!realpath(name, last->real))
            (void)strcpy(last->real, name);
    }
    return asprintf(&real, "%s/%s", last->real, path + length) < 0 ? NULL : real;
}

static void free_paths(char **paths, size_t count)
{
    for (size_t i = 0; paths && i < count; i++)
        free(paths[i]);
    free(paths);
}

static char **real_paths(const ddp_list_lines *list)
{
    char **paths = calloc(list->count + 1, sizeof *paths);
    struct folder last = {.name = ""};

    for (size_t i = 0; paths && i < list->count; i++) {
        paths[i] = real_path(list->all[i], &last);
        if (!paths[i]) {
            free_paths(paths, i);
            return NULL;
        }
    }
    return paths;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void ddp_check_overlap(ddp_faults *f, const ddp_list_lines *valid, const ddp_list_lines *train)
{
    char **trained = real_paths(train), **validated = real_paths(valid);
    size_t shared = 0, first = 0;

    if (trained && validated) {
        qsort(trained, train->count, sizeof *trained, compare_paths);
        for (size_t i = 0; i < valid->count; i++)
            if (bsearch(&validated[i], trained, train->count, sizeof *trained, compare_paths)
                && shared++ == 0)
                first = i;
    } else {
        f->lost = 1;
    }
    if (shared > 0)
        ddp_fault_add(f, DDP_FAULT_WARNING, "list-shared", valid->file, (int)valid->numbers[first],
                      "%zu of %zu pictures to validate on %s in %s, too, %s first: figures for "
                      "them are better than for pictures that were not trained on",
                      shared, valid->count, shared == 1 ? "is" : "are", train->file,
                      valid->all[first]);
    free_paths(trained, train->count);
    free_paths(validated, valid->count);
}

/* ---- a line's number ---- */

size_t ddp_list_number(const char *file, size_t i)
{
    struct stat info;
    FILE *in = stat(file, &info) == 0 && S_ISREG(info.st_mode) ? fopen(file, "r") : NULL;
    size_t number = 0, left = i + 1, size = 0;
    char *line = NULL;

    while (in && left > 0 && getline(&line, &size, in) >= 0) {
        number++;
        left -= line[strspn(line, " \t\r\n")] != 0;
    }
    free(line);
    if (in)
        (void)fclose(in);
    return left > 0 ? i + 1 : number;
}

int ddp_ends_with_blank(const char *line)
{
    size_t bytes = strlen(line);

    return bytes > 0 && strchr(" \t", line[bytes - 1]) != NULL;
}

const char *ddp_path_oddity(const char *path)
{
    if (ddp_ends_with_blank(path))
        return " (the name ends with a blank)";
    if (strchr(path, '\\') && !strchr(path, '/'))
        return " (folders are divided by / here, and not by \\)";
    return "";
}
