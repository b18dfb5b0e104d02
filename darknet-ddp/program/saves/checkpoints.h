/* saves/checkpoints.h: where a run resumes from, and what it saves (state/checkpoint.h), as the
 * options say. All ranks learn here what rank 0 has read and written; sentences are printed on rank
 * 0.
 */
#ifndef DDP_SAVES_CHECKPOINTS_H
#define DDP_SAVES_CHECKPOINTS_H

#include "algorithms/set.h"
#include "base/status.h"
#include "comm/group.h"
#include "inputs/data_files.h"
#include "inputs/list.h"
#include "options/options.h"
#include "state/checkpoint.h"
#include "trainer/trainer.h"

#include <stdint.h>

typedef struct ddp_checkpoints ddp_checkpoints;

/* All must outlive the checkpoints. */
typedef struct ddp_checkpoints_config {
    const ddp_options *options;
    ddp_group *group;
    ddp_trainer *trainer;         /* with its algorithms open for the network, and not attached */
    const ddp_data_files *inputs; /* what the run has read */
    const char *directory;        /* where it saves */
    const char *cfg;              /* its path, whose name the files have */
    const char *first_weights;    /* the file that the network was loaded from; NULL: none */
    const char *valid;            /* what it validates on, in words */
} ddp_checkpoints_config;

/* Own the name that the run saves under, and with -resume go on from its newest checkpoint, if
 * there is one: on rank 0 net (as parsed), and what the trainer's algorithms keep; *seed on all
 * ranks, which is the run's from then on. Attaching the trainer then gives the other ranks
 * the network and the optimizer state, each its part where these are shared out. Blocks until every
 * rank is here. *out is set on success. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM, and on rank 0 with
 * DDP_ERR_IO, as ddp_run_lock_take, and as ddp_checkpoint_resume, DDP_ERR_USAGE where that
 * is DDP_ERR_MISMATCH. */
ddp_status ddp_checkpoints_open(ddp_checkpoints **out, const ddp_checkpoints_config *config,
                                network *net, uint64_t *seed, ddp_error *err) DDP_MUST_CHECK;

/* NULL is allowed. */
void ddp_checkpoints_close(ddp_checkpoints *c);

/* Did the run go on from a checkpoint? The same on all ranks. */
int ddp_checkpoints_resumed(const ddp_checkpoints *c);

/* Of a run that went on: had it validated at the step of that checkpoint, and saved what a
 * validation is followed by? The same on all ranks. */
int ddp_checkpoints_validated(const ddp_checkpoints *c);

/* Since which step the run validates on the pictures of now, 0: always. Figures of validations
 * before are no measure. On rank 0. */
size_t ddp_checkpoints_valid_since(const ddp_checkpoints *c);

/* So many pairs were passed over that seemed newer than the one that the run went on from. On rank
 * 0. */
int ddp_checkpoints_passed_over(const ddp_checkpoints *c);

/* The step that the run went on from, as it was counted when that was saved: with another batch=
 * the run counts others (0: it began anew). On rank 0. */
size_t ddp_checkpoints_saved_step(const ddp_checkpoints *c);

/* The trainer is attached to that network: moments that it has shared out are freed. */
void ddp_checkpoints_attached(ddp_checkpoints *c);

/* The run reads this list. DDP_ERR_USAGE on rank 0: it is not the one that the run that was
 * resumed has read, and -resume_force was not given. */
ddp_status ddp_checkpoints_check_list(ddp_checkpoints *c, ddp_list list,
                                      ddp_error *err) DDP_MUST_CHECK;

/* Give all ranks what rank 0 sees: has[i] is 0 where picture i of the n of the list has no label
 * file. A run that is resumed goes by what it had when it began (ddp_recall_unlabelled). */
ddp_status ddp_checkpoints_labelled(ddp_checkpoints *c, char *has, size_t n,
                                    ddp_error *err) DDP_MUST_CHECK;

/* Darknet is about to save the average of the weights at path: what another has saved there is
 * kept (saves/displaced.h). On rank 0. */
ddp_status ddp_checkpoints_keep_before_average(const ddp_checkpoints *c, const char *path,
                                               ddp_error *err) DDP_MUST_CHECK;

/* Training begins: net is as it was loaded or resumed, and attached, and every rank has read its
 * files. Where it was not resumed, what an earlier run has saved under this name is set aside on
 * rank 0 (checkpoint/set_aside.h), but for the first weights; where it was, what a finished run
 * has learnt gets a second name. is_finished: nothing is left to train, nor to save; then neither.
 * Fails as ddp_set_aside and ddp_earlier_run_keep_final. */
ddp_status ddp_checkpoints_begin(ddp_checkpoints *c, const network *net, int is_finished,
                                 ddp_error *err) DDP_MUST_CHECK;

/* Save on rank 0; where it is due the others send their errors, if compression has any, and what
 * they have of moments that are shared out, and do no more. It is written while training goes on
 * (saves/async_writer.h); whether that went well,
 * ddp_checkpoints_poll tells. Where nothing was trained since ddp_checkpoints_begin a sentence says
 * so instead, unless the run was resumed from another checkpoint. net is settled. Fails with
 * DDP_ERR_FORMAT where a number is not finite, and as ddp_checkpoints_poll. */
ddp_status ddp_checkpoints_save(ddp_checkpoints *c, network *net, const char *path, int cutoff,
                                ddp_error *err) DDP_MUST_CHECK;

/* On rank 0, after each step: is what was written on the disk? With wait: when nothing is left to
 * write. With -ddp_on_save_error continue what cannot be saved is said, and no error here, but in
 * the status below. NULL is allowed. Fails as ddp_checkpoint_save. */
ddp_status ddp_checkpoints_poll(ddp_checkpoints *c, int wait, ddp_error *err) DDP_MUST_CHECK;

/* On rank 0: is nothing being written, or waiting to be? */
int ddp_checkpoints_are_written(const ddp_checkpoints *c);

/* On rank 0 the weights file that was saved last, or resumed from; NULL: none. Also NULL where c
 * is, and on other ranks. */
const char *ddp_checkpoints_last(const ddp_checkpoints *c);

/* On rank 0 the weights files that this run has saved, *count of them, the last one last. Some may
 * be gone since (-keep). */
char *const *ddp_checkpoints_saved(const ddp_checkpoints *c, size_t *count);

/* What the last save took to be written, on rank 0; 0: there was none. */
double ddp_checkpoints_seconds(const ddp_checkpoints *c);

/* The exit status so far: 1 if the last save failed, else 0. NULL is allowed. */
int ddp_checkpoints_status(const ddp_checkpoints *c);

#endif
