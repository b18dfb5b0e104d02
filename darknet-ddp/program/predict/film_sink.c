/* The sink that writes, for each film that is read, a film with the found boxes drawn. */
#include "film/film.h"
#include "predict/draw.h"
#include "predict/out_names.h"
#include "predict/sinks.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct films {
    ddp_out_names names;
    ddp_drawer *drawer;
    const ddp_film_functions *film;
    ddp_film_writer *writer; /* NULL: no film is open */
    unsigned char *rgb;      /* room for a frame */
};

static ddp_status begin_film(void *ctx, const char *path, size_t number, const ddp_film_info *info,
                             ddp_error *err)
{
    struct films *s = ctx;
    char name[DDP_OUT_NAME], file[DDP_OUT_NAME + 8];
    struct stat there;

    ddp_out_name(&s->names, path, number, name);
    (void)snprintf(file, sizeof file, "%s.mp4", name);
    if (stat(file, &there) == 0 && S_ISREG(there.st_mode) && there.st_size > 0)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-out would write over the film %.500s: remove it first, or name another "
                        "file",
                        file);
    s->film = ddp_film_load(err);
    if (!s->film)
        return err->code;
    s->rgb = malloc((size_t)info->width * (size_t)info->height * 3);
    if (!s->rgb)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a frame of %s", path);
    return s->film->create(&s->writer, file, info, err);
}

static ddp_status take(void *ctx, ddp_prediction *p, ddp_error *err)
{
    struct films *s = ctx;

    if (!p->is_frame)
        return DDP_OK;
    ddp_draw_boxes(s->drawer, p, NULL, 0);
    ddp_prediction_copy_rgb(p, s->rgb);
    return s->film->write(s->writer, s->rgb, err);
}

static ddp_status end_film(void *ctx, ddp_error *err)
{
    struct films *s = ctx;
    ddp_film_writer *writer = s->writer;

    s->writer = NULL;
    free(s->rgb);
    s->rgb = NULL;
    return writer ? s->film->finish(writer, err) : DDP_OK;
}

static ddp_status close_films(void *ctx, ddp_error *err)
{
    struct films *s = ctx;
    ddp_status st = end_film(s, err);

    ddp_out_names_close(&s->names);
    ddp_drawer_close(s->drawer);
    free(s);
    return st;
}

ddp_status ddp_film_sink_open(ddp_sink *s, const ddp_sink_config *config, const char *out,
                              ddp_error *err)
{
    struct films *films = calloc(1, sizeof *films);

    if (!films)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for films");
    *s = (ddp_sink){.ctx = films,
                    .begin_film = begin_film,
                    .take = take,
                    .end_film = end_film,
                    .close = close_films,
                    .is_of_each_rank = 1};
    films->drawer = ddp_drawer_open(config->names, config->classes);
    if (!films->drawer)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for letters");
    return ddp_out_names_open(&films->names, config, out, err);
}
