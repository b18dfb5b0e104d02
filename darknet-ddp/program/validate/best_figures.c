#include "validate/best_figures.h"

#include "comm/collectives.h"

#include <stdlib.h>

void ddp_best_figures_release(ddp_best_figures *b)
{
    free(b->all);
    *b = (ddp_best_figures){0};
}

/* Remember the best. Without memory it is not known any more when a later best is lost. */
static void remember(ddp_best_figures *b)
{
    ddp_best_figure *grown = realloc(b->all, (b->count + 1) * sizeof *grown);

    if (!grown)
        return;
    b->all = grown;
    grown[b->count++] = b->best;
}

int ddp_best_figures_add(ddp_best_figures *b, size_t step, double figure)
{
    b->number++;
    if (b->best.step > 0 && figure <= b->best.figure)
        return 0;
    b->best = (ddp_best_figure){figure, step, b->number};
    remember(b);
    return 1;
}

int ddp_best_figures_since(const ddp_best_figures *b)
{
    return b->number - b->best.number;
}

static void forget(ddp_best_figures *b)
{
    b->count = 0;
    b->best = (ddp_best_figure){.number = b->number};
}

int ddp_best_figures_go_back(ddp_best_figures *b, size_t step)
{
    size_t count = b->count;

    if (b->best.step == 0 || b->best.step == step)
        return 0;
    if (step == 0) {
        forget(b);
        return 1;
    }
    while (count > 0 && b->all[count - 1].step != step)
        count--;
    if (count == 0)
        return 0; /* the run has no figure of that step */
    b->count = count;
    b->best = b->all[count - 1];
    return 1;
}

ddp_status ddp_best_figures_share(ddp_best_figures *b, ddp_group *group, ddp_error *err)
{
    struct {
        ddp_best_figure best;
        int number;
    } known = {b->best, b->number};

    if (ddp_broadcast(group, &known, sizeof known, 0, err))
        return err->code;
    b->best = known.best;
    b->number = known.number;
    return DDP_OK;
}
