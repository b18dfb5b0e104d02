/* run/summary.h: the last lines of a run: where it stands, the best figure, the files that it has
 * written, and how to go on. */
#ifndef DDP_RUN_SUMMARY_H
#define DDP_RUN_SUMMARY_H

#include "saves/checkpoints.h"
#include "validate/schedule.h"

typedef struct ddp_summary {
    const ddp_checkpoints *checkpoints;
    const ddp_validation *validation; /* NULL: none */
    const char *directory;            /* of the weights */
    char *const *records; /* paths of the other files, NULL after the last; NULL: none */
    int launched;         /* by a launcher */
    int stopped;          /* before its last step */
    int more_patience;    /* with which it goes on where -patience ended it; 0: it did not */
    int epochs;           /* that would train further, in place of -epochs; 0: not given */
    const char *cfg;
} ddp_summary;

/* Print them, on rank 0; nothing if no step was made. */
void ddp_summary_print(const ddp_summary *s);

#endif
