#include "saves/saved_files.h"

#include <stdlib.h>
#include <string.h>

/* Its place; files->count: it is none of them. */
static size_t find_path(const ddp_saved_files *files, const char *path)
{
    size_t i = 0;

    while (i < files->count && strcmp(files->paths[i], path) != 0)
        i++;
    return i;
}

int ddp_saved_files_has(const ddp_saved_files *files, const char *path)
{
    return find_path(files, path) < files->count;
}

void ddp_saved_files_add(ddp_saved_files *files, const char *path)
{
    char **grown, *last;
    size_t i = find_path(files, path);

    if (i == files->count) {
        grown = realloc(files->paths, (i + 1) * sizeof *grown);
        if (grown)
            files->paths = grown;
        if (!grown || !(grown[i] = strdup(path)))
            return;
        files->count++;
    }
    last = files->paths[i];
    memmove(files->paths + i, files->paths + i + 1, (files->count - 1 - i) * sizeof *files->paths);
    files->paths[files->count - 1] = last;
}

const char *ddp_saved_files_last(const ddp_saved_files *files)
{
    return files->count ? files->paths[files->count - 1] : NULL;
}

void ddp_saved_files_release(ddp_saved_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->paths[i]);
    free(files->paths);
    *files = (ddp_saved_files){0};
}
