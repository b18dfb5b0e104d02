/* show/run_files.h: files that rank 0 writes beside the weights while it trains. NAME.csv has a row
 * a step. NAME.html is a page of the whole run, renewed every few seconds. NAME.log has all that is
 * printed. If asked for, there is an event file for TensorBoard. A file that cannot be written is
 * told of once, and stops nothing.
 *
 *  1. The trainer's hooks time what goes on (ddp_trainer_enter_phase in trainer/trainer_phase.c):
 *     forward, backward, update, and the rest; communication is taken out of each. Heads' figures
 *     of a mini-batch come by the plugin's head (trainer/plugin.c).
 *  2. When a step has ended, run/step.c calls ddp_run_files_step. A validation may follow, whose
 *     detections ddp_run_files_found hands to the page (show/page_pictures.c).
 *  3. ddp_run_files_add completes the row: the differences since the last one. It goes to the CSV
 *     file (monitor/csv.c; columns: show/csv_columns.c), the page's history (monitor/history.c) and
 *     TensorBoard.
 *  4. Every two seconds rank 0 asks all ranks how long they waited. The request travels with the
 *     loss, as signals do, and show/wait_shares.c gathers. */
#ifndef DDP_SHOW_RUN_FILES_H
#define DDP_SHOW_RUN_FILES_H

#include "base/status.h"
#include "glue/train_position.h"
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
    int resumed;              /* 1: the run goes on from a checkpoint, and so do its files */
    int best;                 /* the option -best (options/options.h) */
    ddp_train_position start; /* position at which the run begins */
    size_t saved_step;        /* steps counted by the checkpoint, perhaps with another batch= */
    int passed_over; /* checkpoints passed over that seemed newer than the one that was resumed */
    ddp_trainer *trainer;       /* the trainer, attached from ddp_run_files_open to the last save */
    ddp_validation *validation; /* learns of validations in a resumed run's CSV file; NULL: none */
    /* validations of steps up to this one in the CSV file are not told to `validation` */
    size_t valid_since;
    const ddp_wait_shares *waits; /* shares of time waited, for the page and the history */
    const ddp_head_layers *heads; /* heads of the network; copied */
} ddp_run_files_config;

/* Open the files of a run. All that config points to must outlive *out, but for what is copied. A
 * run that is not resumed writes no file but TensorBoard's before its first row. *out is set on
 * success. Fails with DDP_ERR_NOMEM, and with DDP_ERR_IO for config->tensorboard. */
ddp_status ddp_run_files_open(ddp_run_files **out, const ddp_run_files_config *config,
                              ddp_error *err) DDP_MUST_CHECK;

/* Set how many lines the training list has, which is the images of an epoch. */
void ddp_run_files_list(ddp_run_files *r, size_t lines);

/* Return the paths of NAME.csv, NAME.html and NAME.log; NULL ends them. They live as long as r.
 * Returns NULL if r is NULL. */
char *const *ddp_run_files_paths(const ddp_run_files *r);

/* Hand the detections and truths of a validation to the page. It is a listener for
 * ddp_validation_measure. ctx: a ddp_run_files, or NULL: do nothing. */
void ddp_run_files_found(void *ctx, const ddp_detection *found, size_t count,
                         const ddp_truth *truths, size_t truth_count);

/* Call ddp_run_files_saving before weights are saved: it flushes rows to the disk. Call
 * ddp_run_files_saved afterwards: it calls ddp_run_files_bring_back, and has the next row flushed
 * when it is added. So a run resumed from these weights finds the rows of all steps before them. */
void ddp_run_files_saving(ddp_run_files *r);
void ddp_run_files_saved(ddp_run_files *r);

/* If somebody has removed files of the run or their folder, write these files again as they were.
 */
void ddp_run_files_bring_back(ddp_run_files *r);

/* Take the times, losses and rate of a step that has ended. Time between this call and
 * ddp_run_files_add counts for no step; a validation may take place in it. */
void ddp_run_files_step(ddp_run_files *r, const ddp_train_position *now,
                        const ddp_figures *figures);

/* Add a validation that should have followed the step at which the run goes on. If the last row is
 * that step's, it is completed, or left alone if it has a validation; else a row is added. */
void ddp_run_files_add_missed(ddp_run_files *r, const ddp_train_position *now,
                              const ddp_validation_result *result);

/* Complete and write the step's row. result: that of the validation that followed the step; NULL:
 * none did. Returns 1 if it is time to gather how long each rank waits. */
int ddp_run_files_add(ddp_run_files *r, const ddp_validation_result *result);

/* Write all files at the run's end; nothing if no row was added. how: "ended", "stopped" or
 * "failed", for the page. */
void ddp_run_files_end(ddp_run_files *r, const char *how);

void ddp_run_files_close(ddp_run_files *r); /* frees r; every function above allows NULL as r */

#endif
