/* run/summary.h: prints lines at a run's end: how far it came, the best figure, the files that it
 * has written, and how to go on. */
#ifndef DDP_RUN_SUMMARY_H
#define DDP_RUN_SUMMARY_H

#include "saves/checkpoints.h"
#include "validate/schedule.h"

/* Contents of the lines that ddp_summary_print prints. */
typedef struct ddp_summary {
    const ddp_checkpoints *checkpoints;
    const ddp_validation *validation; /* validation of the run; NULL: none */
    const char *directory;            /* folder that the weights are saved in */
    char *const *records; /* paths of the run's other files, NULL after the last; NULL: none */
    int launched;         /* 1: a launcher has started the ranks */
    int stopped;          /* 1: the run ended before its last step */
    int more_patience;    /* a larger -patience to advise; 0: -patience has not ended the run */
    int epochs;           /* -epochs to advise for training further; 0: the run had no -epochs */
    const char *cfg;      /* path of the cfg */
    const char *data;     /* path of the .data file; NULL: the network is no detector */
} ddp_summary;

/* Print the last lines on standard output; nothing if no step was made. Call on rank 0. */
void ddp_summary_print(const ddp_summary *s);

#endif
