/* show/run_files.h: writes records of a run beside its weights, on rank 0. NAME.csv has a row for
 * each step. NAME.html is a page of the whole run, renewed after 10 seconds or more. NAME.log has
 * what rank 0 prints. If one cannot be written, a line says so once, and the run goes on.
 * -tensorboard adds an event file. Calls for each step, in this order:
 *
 *  1. ddp_run_files_step, when the step has ended. It takes the times of forward, backward and so
 *     on, which trainer/trainer_phase.c has measured.
 *  2. ddp_run_files_found, by a detector's validation, if one follows the step.
 *  3. ddp_run_files_add. It writes the step's row to the CSV file (monitor/csv.c; columns:
 *     show/csv_columns.c), the page's history (monitor/history.c) and TensorBoard.
 *
 * The caller has all ranks gather from time to time how long each waited (show/wait_shares.h), for
 * the page.
 *
 * Every function allows NULL as a ddp_run_files, and then does nothing. */
#ifndef DDP_SHOW_RUN_FILES_H
#define DDP_SHOW_RUN_FILES_H

#include "base/status.h"
#include "glue/train_position.h"
#include "saves/checkpoints.h"
#include "show/wait_shares.h"
#include "trainer/plugin.h"
#include "trainer/trainer.h"
#include "validate/schedule.h"

typedef struct ddp_run_files ddp_run_files;

typedef struct ddp_run_files_config {
    const char *directory;    /* folder of the weights and of these files */
    const char *cfg;          /* path of the cfg, whose name the files have */
    const char *data;         /* path of the .data file; NULL: the command has none */
    const char *tensorboard;  /* folder for TensorBoard's event file; NULL: none */
    const char *banner;       /* lines about the run, for its page; not NULL; copied */
    const char *command;      /* the command line; copied */
    int resumed;              /* 1: its files go on: the run is resumed, or its job was restarted */
    int best;                 /* value of the option -best (options/options.h) */
    ddp_train_position start; /* position at which the run begins */
    const ddp_run_origin *origin; /* from which checkpoint the run goes on; not NULL */
    ddp_trainer *trainer;       /* the trainer, attached from ddp_run_files_open to the last save */
    ddp_validation *validation; /* the run's; gets results from an earlier CSV file; NULL: none */
    const ddp_wait_shares *waits; /* share of time that each rank waits; for the page */
    const ddp_head_layers *heads; /* heads of the network; copied */
} ddp_run_files_config;

/* Open the files of a run. What config points to must outlive *out, unless it is copied. *out is
 * NULL on failure. TensorBoard's file is made now, the other files of a new run with its first row.
 * Fails with DDP_ERR_NOMEM, and with DDP_ERR_IO if TensorBoard's file cannot be made. */
ddp_status ddp_run_files_open(ddp_run_files **out, const ddp_run_files_config *config,
                              ddp_error *err) DDP_MUST_CHECK;

/* Set the number of lines of the training list, the images of an epoch. Until then rows have no
 * epoch. */
void ddp_run_files_list(ddp_run_files *r, size_t lines);

/* Return the paths of NAME.csv, NAME.html and NAME.log; NULL ends them. They live as long as r.
 * Returns NULL if r is NULL. */
char *const *ddp_run_files_paths(const ddp_run_files *r);

/* Hand the detections and truths of a validation to the page. It is a listener for
 * ddp_validation_measure. ctx: the ddp_run_files; NULL: do nothing. */
void ddp_run_files_found(void *ctx, const ddp_detection *found, size_t count,
                         const ddp_truth *truths, size_t truth_count);

/* Note that a save begins; call before weights are saved. Writes all rows, and all lines of
 * NAME.log, so that a run resumed from these weights finds all steps before them. */
void ddp_run_files_saving(ddp_run_files *r);
/* Note that a save has ended; call after weights are saved. Writes files again that somebody has
 * removed (ddp_run_files_bring_back). The next row is written at once. */
void ddp_run_files_saved(ddp_run_files *r);

/* Write NAME.csv, .html and .log again if somebody has removed them. Their folder must be there. */
void ddp_run_files_bring_back(ddp_run_files *r);

/* Note the times, the losses and the rate of step `now`, which has ended. Time from this call to
 * ddp_run_files_add, as for a validation, counts for no step. */
void ddp_run_files_step(ddp_run_files *r, const ddp_train_position *now,
                        const ddp_figures *figures);

/* Add a validation that was missed before, of step `now` from which the run was resumed. If the
 * last row is of this step, it gets the result, unless it has one or there is no CSV file. If there
 * is no row, or the last is of another step, add one. Call before ddp_run_files_step. */
void ddp_run_files_add_missed(ddp_run_files *r, const ddp_train_position *now,
                              const ddp_validation_result *result);

/* Write the row of the step that ddp_run_files_step has noted. result: result of the step's
 * validation; NULL: none. */
void ddp_run_files_add(ddp_run_files *r, const ddp_validation_result *result);

/* Write all files at the run's end. Does nothing if r is NULL, or this run has added no row.
 * how: "ended", "stopped" or "failed", for the page. */
void ddp_run_files_end(ddp_run_files *r, const char *how);

void ddp_run_files_close(ddp_run_files *r); /* frees r */

#endif
