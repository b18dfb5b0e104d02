#include "import/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { DEPTH = 8 };

const char ddp_folder_pictures[] = ".jpg .jpeg .png .bmp .gif .tga .psd .hdr .pgm .ppm";

static int ends_in(const char *name, const char *endings)
{
    size_t length = strlen(name);

    for (const char *word = endings; *word;) {
        size_t bytes = strcspn(word, " ");

        if (length > bytes && strncasecmp(name + length - bytes, word, bytes) == 0)
            return 1;
        word += bytes + strspn(word + bytes, " ");
    }
    return 0;
}

static ddp_status no_memory(ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the names of files");
}

/* Add a path, which the list takes over. */
static ddp_status add(ddp_folder *f, char *path, ddp_error *err)
{
    char **grown = f->paths;

    if ((f->count & (f->count - 1)) == 0) /* full: room is the next power of two */
        grown = reallocarray(f->paths, f->count ? 2 * f->count : 1, sizeof *grown);
    if (!grown) {
        free(path);
        return no_memory(err);
    }
    f->paths = grown;
    f->paths[f->count++] = path;
    return DDP_OK;
}

static ddp_status list(ddp_folder *f, const char *folder, const char *endings, int depth,
                       ddp_error *err);

static ddp_status look_at(ddp_folder *f, char *path, const char *endings, int depth, ddp_error *err)
{
    struct stat info;
    ddp_status st = DDP_OK;
    int is_there = stat(path, &info) == 0;

    if (is_there && S_ISREG(info.st_mode) && ends_in(path, endings))
        return add(f, path, err);
    if (is_there && S_ISDIR(info.st_mode) && depth < DEPTH)
        st = list(f, path, endings, depth + 1, err);
    free(path);
    return st;
}

static ddp_status list(ddp_folder *f, const char *folder, const char *endings, int depth,
                       ddp_error *err)
{
    DIR *d = opendir(folder);
    const struct dirent *entry;
    ddp_status st = DDP_OK;

    if (!d && depth > 0) /* somebody else's, within the one that is asked for */
        return DDP_OK;
    if (!d)
        return ddp_fail(err, DDP_ERR_IO, "cannot read the folder %s: %s", folder, strerror(errno));
    while (!st && (entry = readdir(d))) {
        char *path;

        if (entry->d_name[0] == '.')
            continue;
        path = ddp_folder_join(folder, entry->d_name);
        st = path ? look_at(f, path, endings, depth, err) : no_memory(err);
    }
    (void)closedir(d);
    return st;
}

static int by_bytes(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

ddp_status ddp_folder_list(ddp_folder *f, const char *folder, const char *endings, ddp_error *err)
{
    ddp_status st;

    *f = (ddp_folder){0};
    st = list(f, folder, endings, 0, err);
    if (!st && f->count > 0)
        qsort(f->paths, f->count, sizeof *f->paths, by_bytes);
    return st;
}

void ddp_folder_release(ddp_folder *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->paths[i]);
    free(f->paths);
    *f = (ddp_folder){0};
}

char *ddp_folder_join(const char *folder, const char *name)
{
    size_t length = strlen(folder);
    char *path;

    if (*name == '/')
        return strdup(name);
    return asprintf(&path, "%s%s%s", folder, length && folder[length - 1] == '/' ? "" : "/", name)
                   < 0
               ? NULL
               : path;
}

const char *ddp_folder_last(const char *path)
{
    const char *last = path;

    for (const char *c = path; *c; c++)
        if (*c == '/' || *c == '\\')
            last = c + 1;
    return last;
}

static char *find_in(const char *folder, const char *name)
{
    char *path = ddp_folder_join(folder, name);
    struct stat info;

    if (path && stat(path, &info) == 0 && S_ISREG(info.st_mode))
        return path;
    free(path);
    return NULL;
}

char *ddp_folder_find(const char *const *folders, const char *name)
{
    const char *last = ddp_folder_last(name);
    char *path = NULL;

    for (size_t i = 0; !path && folders[i]; i++)
        path = find_in(folders[i], name);
    for (size_t i = 0; !path && folders[i] && *last; i++)
        path = find_in(folders[i], last);
    return path;
}

ddp_side ddp_folder_side(const char *path)
{
    const char *from = path + strlen(path);
    int slashes = 0;

    while (from > path && slashes < 2)
        if (*--from == '/')
            slashes++;
    if (strstr(from, "train"))
        return DDP_SIDE_TRAIN;
    if (strstr(from, "val"))
        return DDP_SIDE_VALID;
    return strstr(from, "test") ? DDP_SIDE_TEST : DDP_SIDE_UNKNOWN;
}
