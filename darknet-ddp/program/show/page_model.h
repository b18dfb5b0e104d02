/* show/page_model.h: the contents of a run's page (monitor/page.h). */
#ifndef DDP_SHOW_PAGE_MODEL_H
#define DDP_SHOW_PAGE_MODEL_H

#include "glue/train_position.h"
#include "monitor/history.h"
#include "show/csv_columns.h"
#include "show/page_pictures.h"
#include "show/wait_shares.h"
#include "validate/schedule.h"

#include <stdio.h>

typedef struct ddp_page_model {
    const char *name;   /* the cfg's name */
    const char *status; /* "training", "ended" */
    const char *banner; /* lines that describe the run */
    const char *command;
    const ddp_page_pictures *views; /* NULL: none */
    const ddp_csv_columns *columns;
    const ddp_history *history; /* columns, then DDP_WAITS_COLUMNS */
    const double *row;          /* last row */
    const ddp_wait_shares *waits;
    const ddp_validation *validation; /* NULL: none */
    ddp_train_position now;
    double remaining_s; /* NaN: not known */
} ddp_page_model;

/* Write the page of a run. Returns 0 if there is no memory. ferror(out) tells whether all of it
 * could be written. */
int ddp_page_model_write(FILE *out, const ddp_page_model *run);

#endif
