#include "run/best.h"

#include "glue/cfg.h"
#include "run/state.h"
#include "saves/displaced.h"

#include <limits.h>
#include <stdlib.h>

void ddp_best_follow_file(void)
{
    char *base, path[PATH_MAX];
    const char *name;
    double lost, figure;
    size_t step, there, known;

    if (!ddp_validation_best(ddp_run.validation, &name, &lost, &step)
        || !ddp_checkpoints_are_written(ddp_run.checkpoints))
        return;
    base = ddp_cfg_base(ddp_run.cfg_path);
    (void)snprintf(path, sizeof path, "%s/%s_best.weights", ddp_run.directory, base ? base : "");
    free(base);
    there = ddp_displaced_step(path);
    if (!ddp_validation_go_back(ddp_run.validation, there))
        return;
    if (ddp_validation_best(ddp_run.validation, &name, &figure, &known))
        printf("DDP: %s has the weights of step %zu: those of step %zu, with %s %.4f, were not "
               "saved, and the best is %.4f again\n",
               path, known, step, name, lost, figure);
    else
        printf("DDP: %s is not there: the next validation writes it, better than %s %.4f of step "
               "%zu or not\n",
               path, name, lost, step);
}

ddp_status ddp_best_keep_earlier(size_t step, ddp_error *err)
{
    static int is_own; /* they are of this run */
    ddp_status st;
    char *base;

    if (is_own)
        return DDP_OK;
    is_own = 1;
    if (!ddp_checkpoints_origin(ddp_run.checkpoints)->resumed)
        return DDP_OK;
    base = ddp_cfg_base(ddp_run.cfg_path);
    st = ddp_displaced_keep_best(ddp_run.directory, base, step, err);
    free(base);
    return st;
}
