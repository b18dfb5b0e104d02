#include "predict/source.h"

#include "inputs/text_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static const char *const pictures[] = {"jpg", "jpeg", "png", "bmp", "gif", "tga", "ppm", "pgm"};
static const char *const films[] = {"mp4", "avi",  "mkv", "mov", "webm", "m4v",
                                    "mpg", "mpeg", "ts",  "y4m", "wmv",  "flv"};
static const char *const lists[] = {"txt", "list"};

static int ends_in(const char *path, const char *const *endings, size_t count)
{
    const char *dot = strrchr(path, '.');

    for (size_t i = 0; dot && i < count; i++)
        if (strcasecmp(dot + 1, endings[i]) == 0)
            return 1;
    return 0;
}

#define ENDS_IN(path, endings) ends_in(path, endings, sizeof(endings) / sizeof *(endings))

int ddp_source_is_film(const char *path)
{
    return ENDS_IN(path, films);
}

static ddp_status add(ddp_source *s, const char *path, ddp_error *err)
{
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 64;
        char **grown = realloc(s->paths, room * sizeof *grown);

        if (!grown)
            return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu pictures", room);
        s->paths = grown;
        s->room = room;
    }
    s->paths[s->count] = strdup(path);
    if (!s->paths[s->count])
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %s", path);
    s->count++;
    return DDP_OK;
}

static ddp_status add_list(ddp_source *s, const char *path, ddp_error *err)
{
    ddp_lines list = {0};
    ddp_status st = ddp_lines_read(&list, path, err);

    if (!st && list.count == 0)
        st = ddp_fail(err, DDP_ERR_FORMAT, "%s: no picture is listed there, a path in each line",
                      path);
    for (size_t i = 0; i < list.count && !st; i++)
        st = add(s, list.all[i], err);
    ddp_lines_release(&list);
    return st;
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.'
           && (ENDS_IN(entry->d_name, pictures) || ENDS_IN(entry->d_name, films));
}

static ddp_status add_folder(ddp_source *s, const char *folder, ddp_error *err)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_shown, alphasort);
    ddp_status st = DDP_OK;

    if (count < 0)
        return ddp_fail(err, DDP_ERR_IO, "cannot read the folder %s: %s", folder, strerror(errno));
    if (count == 0)
        st = ddp_fail(err, DDP_ERR_FORMAT, "%s: no picture or film is in this folder", folder);
    for (int i = 0; i < count; i++) {
        char path[4096];
        size_t length = strlen(folder);

        (void)snprintf(path, sizeof path, "%s%s%s", folder,
                       length > 0 && folder[length - 1] == '/' ? "" : "/", entries[i]->d_name);
        if (!st)
            st = add(s, path, err);
        free(entries[i]);
    }
    free(entries);
    return st;
}

static int is_folder(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

ddp_status ddp_source_read(ddp_source *s, char *const *words, int count, ddp_error *err)
{
    for (int i = 0; i < count; i++) {
        ddp_status st = is_folder(words[i])        ? add_folder(s, words[i], err)
                        : ENDS_IN(words[i], lists) ? add_list(s, words[i], err)
                                                   : add(s, words[i], err);

        if (st)
            return st;
    }
    s->is_one_file = count == 1 && !is_folder(words[0]) && !ENDS_IN(words[0], lists);
    return DDP_OK;
}

void ddp_source_release(ddp_source *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->paths[i]);
    free(s->paths);
    *s = (ddp_source){0};
}
