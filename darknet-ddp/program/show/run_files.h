/* show/run_files.h: what rank 0 leaves beside the weights while it trains: NAME.csv, a row a step;
 * NAME.html, a page of the whole run, renewed every few seconds; NAME.log, what is printed; and an
 * event file for TensorBoard, where one is asked for. What cannot be written is said once, and
 * stops nothing.
 *
 * The trainer's hooks say what begins (ddp_trainer_enter in trainer/trainer_phase.c): forward,
 * backward, update, or what is outside of all three; communication is taken out of each. run/step.c
 * calls show/run_files.c on rank 0 when a step has ended and once more when what followed it, a
 * validation, has. A row is the differences since the last one: to the CSV file (monitor/csv.c), to
 * the history that the page shows (monitor/history.c), and to TensorBoard. show/csv_columns.c says
 * which columns there are. What heads say of a mini-batch comes by the plugin's head
 * (trainer/plugin.c); what a validation found, for the page alone, goes to show/page_pictures.c.
 * Every two seconds rank 0 asks all ranks what they waited; the request travels with the loss, as
 * signals do, and show/wait_shares.c gathers.
 */
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
    const char *directory;   /* of the weights */
    const char *cfg;         /* its path, whose name the files have */
    const char *tensorboard; /* a folder; NULL: none */
    const char *banner;      /* lines about the run; copied */
    const char *command;     /* the command line; copied */
    int resumed;             /* the run goes on, and so do its files */
    int best;                /* -best */
    ddp_train_position start;
    size_t saved_step; /* what the run that goes on called that step; it may have another batch= */
    int passed_over;   /* checkpoints that seemed newer than the one that the run goes on from */
    ddp_trainer *trainer;
    ddp_validation *validation; /* NULL: none. It recalls what the CSV file knows */
    size_t valid_since;         /* from the validations after that step */
    const ddp_wait_shares *waits;
    const ddp_head_layers *heads; /* of the network; copied */
} ddp_run_files_config;

/* All that config points to must outlive it, but for what is copied. *out is set on success. Fails
 * with DDP_ERR_NOMEM, and with DDP_ERR_IO for config->tensorboard. */
ddp_status ddp_run_files_open(ddp_run_files **out, const ddp_run_files_config *config,
                              ddp_error *err) DDP_MUST_CHECK;

/* The list has so many lines: what an epoch is. */
void ddp_run_files_list(ddp_run_files *r, size_t lines);

/* What it writes beside the weights: paths, NULL after the last. NULL where r is. */
char *const *ddp_run_files_paths(const ddp_run_files *r);

/* What was found in a validation: a listener of ddp_validation_measure. ctx: the records, or NULL.
 */
void ddp_run_files_found(void *ctx, const ddp_detection *found, size_t count,
                         const ddp_truth *truths, size_t truth_count);

/* Before and after weights are saved. A run that resumes from them finds the rows of the steps
 * before, and of their own step as soon as that has ended. */
void ddp_run_files_saving(ddp_run_files *r);
void ddp_run_files_saved(ddp_run_files *r);

/* Files that are not there any more, since their folder was removed, say, come back as they were.
 * ddp_run_files_saved does so, too. */
void ddp_run_files_bring_back(ddp_run_files *r);

/* A step has ended: take its times. What comes until ddp_run_files_add is no part of the next one.
 */
void ddp_run_files_step(ddp_run_files *r, const ddp_train_position *now,
                        const ddp_figures *figures);

/* A validation after the step that the run went on from, which it had not had: in the step's row,
 * or one of its own where the step has none. */
void ddp_run_files_add_missed(ddp_run_files *r, const ddp_train_position *now,
                              const ddp_validation_result *result);

/* Its row is complete. result: of the validation that followed it; NULL: none did. 1: it is time
 * to gather what each rank waits for. */
int ddp_run_files_add(ddp_run_files *r, const ddp_validation_result *result);

/* The run ends, as how says: "ended", "stopped", "failed". */
void ddp_run_files_end(ddp_run_files *r, const char *how);

void ddp_run_files_close(ddp_run_files *r); /* as all of these, NULL is allowed */

#endif
