/* The sink that draws the boxes found, and those of labels, into each picture, and writes it as a
 * JPEG file. -out names the file or its folder; without -out the name is "predictions". */
#include "inputs/overwrite.h"
#include "predict/draw.h"
#include "predict/out_names.h"
#include "predict/sinks.h"
#include "predict/truths.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct pictures {
    const ddp_sink_config *config;
    ddp_out_names names;
    ddp_drawer *drawer;
};

static const char DEFAULT[] = "predictions";

static int are_one_file(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

static ddp_status check_overwrite(const char *path, const char *read, ddp_error *err)
{
    char what[DDP_OUT_NAME + 16];

    (void)snprintf(what, sizeof what, "-out, %s,", path);
    if (are_one_file(path, read))
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-out would write over %.500s, which this command reads: name another "
                        "folder",
                        read);
    return ddp_overwrite_check_file(what, path, DDP_WRITTEN_JPEG, err);
}

static ddp_status take(void *ctx, ddp_prediction *p, ddp_error *err)
{
    struct pictures *s = ctx;
    ddp_truth truths[DDP_TRUTHS_MOST];
    char name[DDP_OUT_NAME], file[DDP_OUT_NAME + 8];

    if (p->why[0] || p->is_frame)
        return DDP_OK;
    ddp_out_name(&s->names, p->path, p->number, name);
    (void)snprintf(file, sizeof file, "%s.jpg", name);
    if (check_overwrite(file, p->path, err))
        return err->code;
    ddp_draw_boxes(s->drawer, p, truths,
                   ddp_truths_read(truths, NULL, p->path, s->config->classes));
    ddp_prediction_save_jpeg(p, name);
    return DDP_OK;
}

static ddp_status close_pictures(void *ctx, ddp_error *err)
{
    struct pictures *s = ctx;

    (void)err;
    ddp_out_names_close(&s->names);
    ddp_drawer_close(s->drawer);
    free(s);
    return DDP_OK;
}

ddp_status ddp_picture_sink_open(ddp_sink *s, const ddp_sink_config *config, const char *out,
                                 ddp_error *err)
{
    struct pictures *pictures = calloc(1, sizeof *pictures);

    if (!pictures)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for pictures");
    if (!out
        && ddp_overwrite_check_picture("without -out the result", DEFAULT, config->data, err)) {
        free(pictures);
        return err->code;
    }
    pictures->config = config;
    *s = (ddp_sink){.ctx = pictures, .take = take, .close = close_pictures, .is_of_each_rank = 1};
    pictures->drawer = ddp_drawer_open(config->names, config->classes);
    if (!pictures->drawer)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for letters");
    if (ddp_out_names_open(&pictures->names, config, out ? out : DEFAULT, err))
        return err->code;
    return out && !pictures->names.is_folder
               ? ddp_overwrite_check_picture("-out", out, config->data, err)
               : DDP_OK;
}
