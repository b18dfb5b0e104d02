/* show/page_model.h: what the page of a run shows (monitor/page.h). */
#ifndef DDP_SHOW_PAGE_MODEL_H
#define DDP_SHOW_PAGE_MODEL_H

#include "glue/position.h"
#include "monitor/history.h"
#include "show/csv_columns.h"
#include "show/page_pictures.h"
#include "show/wait_shares.h"
#include "validate/schedule.h"

#include <stdio.h>

typedef struct ddp_run_page {
    const char *name;   /* of the cfg */
    const char *status; /* "training", "ended" */
    const char *banner; /* lines that say what the run is */
    const char *command;
    const ddp_views *views; /* NULL: none */
    const ddp_columns *columns;
    const ddp_history *history; /* columns, then DDP_WAITS_COLUMNS */
    const double *row;          /* the last one */
    const ddp_waits *waits;
    const ddp_validation *validation; /* NULL: none */
    ddp_position now;
    double left_s; /* NaN: not known */
} ddp_run_page;

/* 0: no memory. Whether all of it could be written, ferror(out) tells. */
int ddp_run_page_write(FILE *out, const ddp_run_page *run);

#endif
