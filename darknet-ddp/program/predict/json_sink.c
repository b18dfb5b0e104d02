/* The sink that writes the file of -json, in our own format or in COCO's format of results. */
#include "base/json.h"
#include "predict/sinks.h"
#include "validate/result_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct json {
    const ddp_sink_config *config;
    const char *path;
    FILE *file;
    int coco;
    int lines; /* pictures, or boxes of COCO, in the file */
};

static void put_class(FILE *f, const ddp_sink_config *config, const ddp_detection *d)
{
    (void)fprintf(f, "{\"class\": %d, \"name\": ", d->class_id);
    ddp_json_text(f, config->names[d->class_id]);
    (void)fprintf(f, ", \"score\": %.9g", d->score);
}

/* Sides are in pixels, as found: they may lie outside of the picture. */
static void put_picture(struct json *j, const ddp_prediction *p)
{
    FILE *f = j->file;

    (void)fputs(j->lines++ ? ",\n{\"path\": " : "\n{\"path\": ", f);
    ddp_json_text(f, p->path);
    if (p->is_frame)
        (void)fprintf(f, ", \"frame\": %zu", p->number + 1);
    if (p->why[0]) {
        (void)fputs(", \"error\": ", f);
        ddp_json_text(f, p->why);
        (void)fputs("}", f);
        return;
    }
    (void)fprintf(f, ", \"width\": %d, \"height\": %d, \"%s\": [", p->width, p->height,
                  j->config->is_classifier ? "classes" : "boxes");
    for (size_t i = 0; i < p->count; i++) {
        const ddp_detection *d = &p->found[i];

        (void)fputs(i ? ",\n  " : "\n  ", f);
        put_class(f, j->config, d);
        if (!j->config->is_classifier)
            (void)fprintf(f, ", \"left\": %.9g, \"top\": %.9g, \"width\": %.9g, \"height\": %.9g",
                          d->box.left * p->width, d->box.top * p->height, d->box.width * p->width,
                          d->box.height * p->height);
        (void)fputs("}", f);
    }
    (void)fputs("]}", f);
}

static void put_coco(struct json *j, const ddp_prediction *p)
{
    for (size_t i = 0; i < p->count; i++)
        ddp_results_put_coco(j->file, j->lines++ > 0, p->path, p->number, p->width, p->height,
                             &p->found[i]);
}

static ddp_status cannot_write(const struct json *j, ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_IO, "cannot write %s: %s", j->path, strerror(errno));
}

static ddp_status take(void *ctx, ddp_prediction *p, ddp_error *err)
{
    struct json *j = ctx;

    if (j->coco)
        put_coco(j, p);
    else
        put_picture(j, p);
    return ferror(j->file) ? cannot_write(j, err) : DDP_OK;
}

static ddp_status close_json(void *ctx, ddp_error *err)
{
    struct json *j = ctx;
    ddp_status st = DDP_OK;

    (void)fputs(j->coco ? "\n]\n" : "]}\n", j->file);
    if (ferror(j->file) | fclose(j->file))
        st = cannot_write(j, err);
    free(j);
    return st;
}

ddp_status ddp_json_sink_open(ddp_sink *s, const ddp_sink_config *config, const char *path,
                              int coco, ddp_error *err)
{
    struct json *j = calloc(1, sizeof *j);
    struct json opened = {.config = config, .path = path, .coco = coco};

    if (!j)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %s", path);
    opened.file = fopen(path, "we");
    if (!opened.file) {
        free(j);
        return cannot_write(&opened, err);
    }
    *j = opened;
    (void)fputs(coco ? "[\n" : "{\"pictures\": [", j->file);
    *s = (ddp_sink){.ctx = j, .take = take, .close = close_json};
    return DDP_OK;
}
