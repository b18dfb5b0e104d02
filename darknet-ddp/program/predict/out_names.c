#include "predict/out_names.h"

#include "base/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

struct named {
    const char *path;
    size_t number;
};

static const char *name_of(const char *path, int *length)
{
    const char *name = ddp_path_name(path), *dot = strrchr(name, '.');

    *length = (int)(dot && dot > name ? (size_t)(dot - name) : strlen(name));
    return name;
}

static int by_name(const void *a, const void *b)
{
    int x_length, y_length;
    const char *x = name_of(((const struct named *)a)->path, &x_length);
    const char *y = name_of(((const struct named *)b)->path, &y_length);
    int order = strncmp(x, y, (size_t)(x_length < y_length ? x_length : y_length));

    return order ? order : x_length - y_length;
}

static ddp_status find_repeated(ddp_out_names *n, ddp_error *err)
{
    size_t count = n->config->count;
    struct named *all = calloc(count + 1, sizeof *all);

    n->repeated = calloc(count + 1, 1);
    if (!all || !n->repeated) {
        free(all);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu names", count);
    }
    for (size_t i = 0; i < count; i++)
        all[i] = (struct named){n->config->paths[i], i};
    qsort(all, count, sizeof *all, by_name);
    for (size_t i = 1; i < count; i++)
        if (by_name(&all[i - 1], &all[i]) == 0)
            n->repeated[all[i - 1].number] = n->repeated[all[i].number] = 1;
    free(all);
    return DDP_OK;
}

ddp_status ddp_out_names_open(ddp_out_names *n, const ddp_sink_config *config, const char *out,
                              ddp_error *err)
{
    struct stat info;

    *n = (ddp_out_names){.config = config, .out = out};
    n->is_folder = !config->is_one_file || (stat(out, &info) == 0 && S_ISDIR(info.st_mode));
    if (!n->is_folder)
        return DDP_OK;
    if (mkdir(out, 0777) && errno != EEXIST)
        return ddp_fail(err, DDP_ERR_IO, "-out: cannot make the folder %s: %s", out,
                        strerror(errno));
    return find_repeated(n, err);
}

/* Return the length of a name without the ending that its file gets. */
static int without_ending(const char *name)
{
    size_t length = strlen(name);
    const char *ending = length > 4 ? name + length - 4 : "";

    return (int)(strcasecmp(ending, ".jpg") == 0 || strcasecmp(ending, ".mp4") == 0 ? length - 4
                                                                                    : length);
}

void ddp_out_name(const ddp_out_names *n, const char *path, size_t number, char name[DDP_OUT_NAME])
{
    int length;
    const char *last = name_of(path, &length);

    if (!n->is_folder)
        (void)snprintf(name, DDP_OUT_NAME, "%.*s", without_ending(n->out), n->out);
    else if (n->repeated[number])
        (void)snprintf(name, DDP_OUT_NAME, "%s/%.*s-%zu", n->out, length, last, number + 1);
    else
        (void)snprintf(name, DDP_OUT_NAME, "%s/%.*s", n->out, length, last);
}

void ddp_out_names_close(ddp_out_names *n)
{
    free(n->repeated);
}
