/* cli/check_print.h: what `darknet ddp check` found, for a person and for a program. */
#ifndef DDP_CLI_CHECK_PRINT_H
#define DDP_CLI_CHECK_PRINT_H

#include "check/data.h"
#include "check/model.h"
#include "glue/weights.h"
#include "inputs/anchor_fit.h"

/* What is known on rank 0 alone, once all is gathered. */
typedef struct ddp_fit {
    ddp_anchor_fit anchors;
    const char *weights_path; /* NULL: none were given */
    ddp_weights_fit weights;
} ddp_fit;

typedef struct ddp_check_result {
    char *const *names; /* of the classes; NULL: not known */
    int classes;
    const uint64_t *by_class;
    const ddp_tally *tally;
    const ddp_heads *heads;
    const ddp_fit *fit;
} ddp_check_result;

typedef struct ddp_check_counts {
    size_t errors, warnings;
} ddp_check_counts;

/* Print each fault to out, a line each: "FILE:LINE: error: SENTENCE", and write it to json if that
 * is not NULL; then what was counted. The faults are spent. */
ddp_check_counts ddp_check_print(FILE *out, FILE *json, ddp_faults *faults,
                                 const ddp_check_result *r);

#endif
