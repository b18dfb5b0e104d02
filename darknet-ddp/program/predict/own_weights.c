#include "predict/own_weights.h"

#include "base/path.h"
#include "checkpoint/find.h"
#include "checkpoint/match.h"
#include "glue/cfg.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of batches in the names of a run's weights. */
struct numbers {
    long *all;
    size_t count;
};

static int by_number(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;

    return (x > y) - (x < y);
}

static ddp_status add_number(struct numbers *n, long number, ddp_error *err)
{
    long *grown = realloc(n->all, (n->count + 1) * sizeof *grown);

    if (!grown)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the names of weights");
    n->all = grown;
    n->all[n->count++] = number;
    return DDP_OK;
}

static ddp_status list_numbers(struct numbers *n, const char *folder, const char *base,
                               ddp_error *err)
{
    DIR *d = opendir(folder);
    const struct dirent *e;
    ddp_status st = DDP_OK;

    while (d && !st && (e = readdir(d)) != NULL) {
        long number = ddp_match_is_numbered(e->d_name, base)
                          ? strtol(e->d_name + strlen(base) + 1, NULL, 10)
                          : 0;

        if (number > 0)
            st = add_number(n, number, err);
    }
    if (d)
        (void)closedir(d);
    if (n->count > 0)
        qsort(n->all, n->count, sizeof *n->all, by_number);
    return st;
}

/* Add the numbered weights, then the newest ones. */
static ddp_status add_paths(ddp_own_weights *out, const struct numbers *n, const char *folder,
                            const char *base, const ddp_pair_header *newest, ddp_error *err)
{
    size_t most = DDP_PREDICTORS_MOST - 1, first = n->count > most ? n->count - most : 0;
    char path[PATH_MAX + 64];

    for (size_t i = first; i < n->count; i++) {
        (void)snprintf(path, sizeof path, "%s/%s_%ld.weights", folder, base, n->all[i]);
        if ((uint64_t)n->all[i] * 2 >= newest->step && strcmp(path, newest->weights) != 0)
            out->paths[out->count++] = strdup(path);
    }
    out->paths[out->count++] = strdup(newest->weights);
    for (size_t i = 0; i < out->count; i++)
        if (!out->paths[i])
            return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the names of weights");
    return DDP_OK;
}

ddp_status ddp_own_weights_find(ddp_own_weights *out, const char *folder, const char *base,
                                ddp_error *err)
{
    ddp_pair_header newest = {0};
    struct numbers n = {0};
    ddp_status st = ddp_pair_latest(&newest, folder, base, err);

    if (!st && !newest.weights)
        st = ddp_fail(err, DDP_ERR_IO, "%s has no weights of a run of %s", folder, base);
    if (!st)
        st = list_numbers(&n, folder, base, err);
    if (!st)
        st = add_paths(out, &n, folder, base, &newest, err);
    free(newest.weights);
    free(n.all);
    return st;
}

ddp_status ddp_own_weights_of_cfg(ddp_own_weights *out, const ddp_sections *data, const char *path,
                                  const char *cfg, ddp_error *err)
{
    const char *folder = ddp_sections_find(data, "backup");
    char *base = ddp_cfg_base(cfg), beside[PATH_MAX];
    ddp_status st;

    (void)snprintf(beside, sizeof beside, "%.*sbackup", (int)(ddp_path_name(path) - path), path);
    st = base ? ddp_own_weights_find(out, folder ? folder : beside, base, err)
              : ddp_fail(err, DDP_ERR_NOMEM, "no memory for the cfg's name");
    free(base);
    return st;
}

void ddp_own_weights_release(ddp_own_weights *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->paths[i]);
    *w = (ddp_own_weights){0};
}
