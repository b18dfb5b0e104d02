/* validate/best_figures.h: records which validation of a run was the best, and which were the best
 * before it. */
#ifndef DDP_VALIDATE_BEST_FIGURES_H
#define DDP_VALIDATE_BEST_FIGURES_H

#include "base/status.h"
#include "comm/group.h"

#include <stddef.h>

/* A validation that was the best of the run when it came. */
typedef struct ddp_best_figure {
    double figure; /* figure of the validation, such as mAP: the greater the better */
    size_t step;   /* step after which the validation came; 0: there is none */
    int number;    /* the validation's number in the run, from 1 */
} ddp_best_figure;

/* The best validation so far, and earlier ones. Begin with {0}. */
typedef struct ddp_best_figures {
    ddp_best_figure best;
    int number; /* number of validations so far */
    /* `count` validations that were the best when they came, the present best last. Right on rank 0
     * alone; those for which there was no memory are missing. */
    ddp_best_figure *all;
    size_t count;
} ddp_best_figures;

/* Free the list, and make *b all zero. */
void ddp_best_figures_release(ddp_best_figures *b);

/* Add the figure of the validation after `step`. Returns 1 if it beats the best so far, else 0. */
int ddp_best_figures_add(ddp_best_figures *b, size_t step, double figure);

/* Return the number of validations since the best one. If ddp_best_figures_go_back with step 0
 * has forgotten the best, return the number since that call. Before any validation return 0. */
int ddp_best_figures_since(const ddp_best_figures *b);

/* Make the validation of step `step`, which was the best when it came, the best again. Forget all
 * bests of later steps. step 0: forget all bests. Returns 1. Returns 0, with nothing changed, if
 * there is no best, the best is of step `step` already, or no best of this step is known. */
int ddp_best_figures_go_back(ddp_best_figures *b, size_t step);

/* Copy rank 0's fields best and number to all ranks. Collective. Fails with DDP_ERR_NOMEM,
 * DDP_ERR_COMM. */
ddp_status ddp_best_figures_share(ddp_best_figures *b, ddp_group *group,
                                  ddp_error *err) DDP_MUST_CHECK;

#endif
