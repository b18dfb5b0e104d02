/* cli/check_print.h: prints what `darknet ddp check` has found, for people and as JSON. */
#ifndef DDP_CLI_CHECK_PRINT_H
#define DDP_CLI_CHECK_PRINT_H

#include "check/data.h"
#include "check/model.h"
#include "glue/weights.h"
#include "inputs/anchor_fit.h"

/* How well the anchors fit the boxes, and how well the weights fit the cfg. For rank 0 alone. */
typedef struct ddp_fit {
    ddp_anchor_fit anchors;
    const char *weights_path; /* path of the weights file; NULL: none was given */
    ddp_weights_fit weights;
} ddp_fit;

typedef struct ddp_check_result {
    char *const *names; /* names of the classes; NULL: not known */
    int classes;
    const uint64_t *by_class; /* by class: number of boxes, or of a classifier's pictures */
    const ddp_tally *tally;
    const ddp_heads *heads;
    const ddp_fit *fit;
} ddp_check_result;

typedef struct ddp_check_counts {
    size_t errors, warnings;
} ddp_check_counts;

/* Print a line to out for each fault, "FILE:LINE: error: SENTENCE" or "FILE:LINE: warning:
 * SENTENCE". Of more than 50 of one kind in a row, print only the first 50. Then print the counts
 * of r. If json is not NULL, write all faults and the counts to it. Returns the numbers of errors
 * and warnings. Afterwards *faults can only be released. */
ddp_check_counts ddp_check_print(FILE *out, FILE *json, ddp_faults *faults,
                                 const ddp_check_result *r);

#endif
