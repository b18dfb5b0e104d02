#include "core/layer_profile.h"

#include "base/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES = 1 << 20 };

static const char title[] = "# darknet-ddp profile";

ddp_status ddp_layer_profile_init(ddp_layer_profile *p, int layers, ddp_error *err)
{
    *p = (ddp_layer_profile){.layers = layers};
    p->times = calloc((size_t)layers, sizeof *p->times);
    return p->times ? DDP_OK : ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d layers", layers);
}

void ddp_layer_profile_release(ddp_layer_profile *p)
{
    free(p->times);
    *p = (ddp_layer_profile){0};
}

void ddp_layer_profile_write(FILE *out, const ddp_layer_profile *p, const char *of,
                             const char *const *kinds)
{
    (void)fprintf(out, "%s of %s\n", title, of);
    (void)fprintf(out, "# seconds: of a mini-batch's forward pass, of its backward pass until the "
                       "gradients are final, and after that; of a step's update\n");
    (void)fprintf(out, "device\t%s\nimages\t%d\n", p->on_gpu ? "gpu" : "cpu", p->images);
    (void)fprintf(out, "# layer\tforward\tgradients\trest\tupdate\n");
    for (int i = 0; i < p->layers; i++)
        (void)fprintf(out, "%d\t%.7f\t%.7f\t%.7f\t%.7f\t# %s\n", i, p->times[i].forward,
                      p->times[i].gradients, p->times[i].rest, p->times[i].update, kinds[i]);
}

/* ---- reading ---- */

static int is_time(double seconds)
{
    return isfinite(seconds) && seconds >= 0;
}

/* Read the line of layer `next`. Returns 0 if it is malformed. */
static int read_layer(ddp_layer_profile *p, int next, const char *line)
{
    ddp_layer_times t;
    int layer;

    if (next >= p->layers
        || sscanf(line, "%d %lf %lf %lf %lf", &layer, &t.forward, &t.gradients, &t.rest, &t.update)
               != 5
        || layer != next || !is_time(t.forward) || !is_time(t.gradients) || !is_time(t.rest)
        || !is_time(t.update))
        return 0;
    p->times[layer] = t;
    return 1;
}

static int read_line(ddp_layer_profile *p, int *next, const char *line)
{
    char device[8];

    if (*line == '#' || *line == '\0')
        return 1;
    if (sscanf(line, "images %d", &p->images) == 1)
        return p->images > 0;
    if (sscanf(line, "device %7s", device) == 1) {
        p->on_gpu = strcmp(device, "gpu") == 0;
        return p->on_gpu || strcmp(device, "cpu") == 0;
    }
    return read_layer(p, (*next)++, line);
}

static ddp_status read_text(ddp_layer_profile *p, const char *path, char *text, ddp_error *err)
{
    int next = 0, number = 1;

    if (strncmp(text, title, strlen(title)) != 0)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%s is no profile: `darknet ddp bench` writes one, "
                        "which begins with '%s'",
                        path, title);
    for (char *line = text; line; number++) {
        char *end = strchr(line, '\n');

        if (end)
            *end++ = '\0';
        if (!read_line(p, &next, line))
            return ddp_fail(err, DDP_ERR_USAGE,
                            "%s, line %d: not 'device cpu|gpu', 'images N', or layer %d of %d and "
                            "four times in seconds",
                            path, number, next - 1, p->layers);
        line = end;
    }
    if (next != p->layers || p->images == 0)
        return ddp_fail(err, DDP_ERR_USAGE, "%s has %d layers, the network %d%s", path, next,
                        p->layers, p->images ? "" : ", and does not say how many images");
    return DDP_OK;
}

ddp_status ddp_layer_profile_read(ddp_layer_profile *p, const char *path, int layers,
                                  ddp_error *err)
{
    void *text = NULL;
    size_t bytes;
    uint64_t size;
    ddp_status st = ddp_layer_profile_init(p, layers, err);

    if (!st)
        st = ddp_file_read(path, FILE_BYTES, &text, &bytes, &size, err);
    if (!st)
        st = read_text(p, path, text, err);
    free(text);
    return st;
}
