#include "trainer/deferred_saves.h"

#include <stdlib.h>
#include <string.h>

static size_t find(const ddp_deferred_saves *w, const char *path)
{
    size_t i = 0;

    while (i < w->count && strcmp(w->list[i].path, path) != 0)
        i++;
    return i;
}

ddp_status ddp_deferred_saves_add(ddp_deferred_saves *w, const char *path, int cutoff,
                                  ddp_error *err)
{
    size_t i = find(w, path);
    ddp_deferred_save *grown;
    char *copy;

    if (i < w->count) {
        w->list[i].cutoff = cutoff;
        return DDP_OK;
    }
    grown = realloc(w->list, (i + 1) * sizeof *grown);
    if (grown)
        w->list = grown;
    copy = grown ? strdup(path) : NULL;
    if (!copy)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to save %s later", path);
    grown[i] = (ddp_deferred_save){.path = copy, .cutoff = cutoff};
    w->count++;
    return DDP_OK;
}

void ddp_deferred_saves_drop(ddp_deferred_saves *w, const char *path)
{
    size_t i = find(w, path);

    if (i == w->count)
        return;
    free(w->list[i].path);
    w->count--;
    memmove(w->list + i, w->list + i + 1, (w->count - i) * sizeof *w->list);
}

void ddp_deferred_saves_release(ddp_deferred_saves *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->list[i].path);
    free(w->list);
    *w = (ddp_deferred_saves){0};
}
