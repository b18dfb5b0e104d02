#include "run/losses.h"

#include "eval/loss_file.h"
#include "glue/cfg.h"
#include "run/state.h"
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
        const ddp_loss_line line = {.picture = ddp_plugin_picture(all[i].label.picture),
                                    .mean = all[i].sum / (double)all[i].count,
                                    .count = all[i].count,
                                    .line = all[i].label.line};

        ddp_loss_file_put(f, &line);
    }
}

/* Write the file by another name, so that a run that dies meanwhile leaves a whole one. */
static void write_file(const ddp_label_loss *all, size_t count)
{
    static int was_said;
    char *base = ddp_cfg_base(ddp_run.cfg_path), path[PATH_MAX], part[PATH_MAX + 8];
    FILE *f;

    (void)snprintf(path, sizeof path, "%s/%s.losses", ddp_run.directory, base ? base : "");
    (void)snprintf(part, sizeof part, "%s.part", path);
    free(base);
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
