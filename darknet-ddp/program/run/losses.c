#include "run/losses.h"

#include "eval/loss_file.h"
#include "glue/cfg.h"
#include "run/state.h"
#include "samples/transforms.h"
#include "show/run_messages.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put_all(FILE *f, const ddp_label_loss *all, size_t count)
{
    ddp_loss_file_put_head(f);
    for (size_t i = 0; i < count; i++) {
        const ddp_loss_line line = {.picture = ddp_plugin_line_path(all[i].label.picture),
                                    .mean = ddp_label_loss_mean(&all[i]),
                                    .count = all[i].visits,
                                    .line = all[i].label.line};

        ddp_loss_file_put(f, &line);
    }
}

static void name_file(char path[PATH_MAX])
{
    char *base = ddp_cfg_base(ddp_run.cfg_path);

    (void)snprintf(path, PATH_MAX, "%s/%s.losses", ddp_run.directory, base ? base : "");
    free(base);
}

void ddp_losses_resume(char *const *paths, size_t n)
{
    ddp_label_losses *losses = ddp_plugin_label_losses();
    char path[PATH_MAX], labels[DDP_LABEL_PATH_BYTES];
    ddp_loss_file f;
    ddp_error err;

    if (!losses || ddp_group_rank(ddp_run.group) != 0 || !ddp_run.options->records)
        return;
    name_file(path);
    if (ddp_loss_file_read(&f, path, &err))
        ddp_print_goes_on("%s", err.text);
    for (size_t i = 0; f.count > 0 && i < n; i++) {
        const ddp_loss_line *lines;
        size_t count;

        if (ddp_label_losses_find_picture(losses, paths[i]) != i)
            continue; /* listed before */
        ddp_label_path(paths[i], labels);
        lines = ddp_loss_file_of(&f, paths[i], labels, &count);
        for (size_t k = 0; k < count; k++)
            ddp_label_losses_add(losses, (ddp_label_id){(uint32_t)i, lines[k].line}, lines[k].count,
                                 lines[k].mean);
    }
    ddp_loss_file_release(&f);
}

/* Write the file by another name, so that a run that dies meanwhile leaves a whole one. */
static void write_file(const ddp_label_loss *all, size_t count)
{
    static int was_said;
    char path[PATH_MAX], part[PATH_MAX + 8];
    FILE *f;

    name_file(path);
    (void)snprintf(part, sizeof part, "%s.part", path);
    f = fopen(part, "we");
    if (f)
        put_all(f, all, count);
    if (f && !(ferror(f) | fclose(f)) && !rename(part, path))
        return;
    if (!was_said)
        ddp_print_goes_on("cannot write %s: %s", path, strerror(errno));
    was_said = 1;
    (void)unlink(part);
}

ddp_status ddp_losses_save(const network *net, ddp_error *err)
{
    static size_t saved_at; /* images seen */
    size_t images = ddp_train_position_of(net).images, count;
    ddp_label_loss *all;

    if (!ddp_plugin_label_losses() || images == saved_at)
        return DDP_OK;
    saved_at = images;
    if (ddp_label_losses_gather(ddp_plugin_label_losses(), ddp_run.group, &all, &count, err))
        return err->code;
    if (count > 0 && ddp_run.options->records)
        write_file(all, count);
    free(all);
    return DDP_OK;
}
