/* show/page_model.h: gathers from all parts of a run what its page, NAME.html, shows, and writes
 * the page (monitor/page.h). */
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
    const char *name;               /* the cfg's name, without folder, up to its first dot */
    const char *status;             /* state of the run, such as "training" or "ended" */
    const char *banner;             /* lines that describe the run */
    const char *command;            /* the command line */
    const ddp_page_pictures *views; /* views of the last validation; NULL: none */
    const ddp_csv_columns *columns;
    const ddp_history *history; /* a row has `columns`, then DDP_WAITS_COLUMNS of `waits` */
    const double *row; /* values of the last step, by `columns`; NaN: not known, or no step yet */
    const ddp_wait_shares *waits;     /* how long each rank waited, gathered last */
    const ddp_validation *validation; /* validation of the run; NULL: none */
    ddp_train_position now;
    double remaining_s; /* seconds until the run's last step; NaN: not known */
} ddp_page_model;

/* Write the page to out. Returns 1; 0: no memory, and nothing is written. ferror(out) tells whether
 * all could be written. */
int ddp_page_model_write(FILE *out, const ddp_page_model *run);

#endif
