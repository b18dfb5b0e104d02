/* validate/best_figures.h: which validation was the best, now and before. */
#ifndef DDP_VALIDATE_BEST_FIGURES_H
#define DDP_VALIDATE_BEST_FIGURES_H

#include "base/status.h"
#include "comm/group.h"

#include <stddef.h>

/* A validation that was the best when it came. */
typedef struct ddp_best_figure {
    double figure;
    size_t step; /* 0: there was none */
    int number;  /* of the validation, from 1 */
} ddp_best_figure;

/* Begins as {0}. */
typedef struct ddp_best_figures {
    ddp_best_figure best;
    int number;           /* validations so far */
    ddp_best_figure *all; /* in their order; on rank 0 later ones may be lost */
    size_t count;
} ddp_best_figures;

void ddp_best_figures_release(ddp_best_figures *b);

/* Another validation's figure, the greater the better. Returns whether it is the best so far. */
int ddp_best_figures_add(ddp_best_figures *b, size_t step, double figure);

/* Validations since the best. */
int ddp_best_figures_since(const ddp_best_figures *b);

/* The best is that of this step (0: there is none), and later ones are forgotten. Returns 0 where
 * that is so already, or the step has no figure: then nothing changes. */
int ddp_best_figures_go_back(ddp_best_figures *b, size_t step);

/* All ranks learn what rank 0 knows of the best. Fails with DDP_ERR_COMM. */
ddp_status ddp_best_figures_share(ddp_best_figures *b, ddp_group *group,
                                  ddp_error *err) DDP_MUST_CHECK;

#endif
