/* validate/best_figures.h: which validation was the best, and which were the best before it. */
#ifndef DDP_VALIDATE_BEST_FIGURES_H
#define DDP_VALIDATE_BEST_FIGURES_H

#include "base/status.h"
#include "comm/group.h"

#include <stddef.h>

/* A validation that was the best when it came. */
typedef struct ddp_best_figure {
    double figure;
    size_t step; /* 0: there was none */
    int number;  /* number of the validation, from 1 */
} ddp_best_figure;

/* The best validation, and those before. Begins as {0}. */
typedef struct ddp_best_figures {
    ddp_best_figure best;
    int number; /* validations so far */
    /* Each best, in the order in which they came. One for which there was no memory is missing. */
    ddp_best_figure *all;
    size_t count;
} ddp_best_figures;

void ddp_best_figures_release(ddp_best_figures *b);

/* Add another validation's figure, the greater the better. Returns 1 if it is the best so far. */
int ddp_best_figures_add(ddp_best_figures *b, size_t step, double figure);

/* Return the number of validations since the best. */
int ddp_best_figures_since(const ddp_best_figures *b);

/* Make the validation of this step the best again (0: there is none), and forget later ones.
 * Returns 0, and changes nothing, if it is the best already, or the step has no figure. */
int ddp_best_figures_go_back(ddp_best_figures *b, size_t step);

/* Give all ranks what rank 0 knows of the best. Fails with DDP_ERR_COMM. */
ddp_status ddp_best_figures_share(ddp_best_figures *b, ddp_group *group,
                                  ddp_error *err) DDP_MUST_CHECK;

#endif
