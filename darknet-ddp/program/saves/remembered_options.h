/* saves/remembered_options.h: fills in what a state file tells of the command line, the data files
 * and the build, so that -resume can compare it. */
#ifndef DDP_SAVES_REMEMBERED_OPTIONS_H
#define DDP_SAVES_REMEMBERED_OPTIONS_H

#include "inputs/data_files.h"
#include "options/options.h"
#include "state/checkpoint.h"

/* Fill run's options with those of the command line, the data files and the build. ranks: how many
 * train. Fails with DDP_ERR_USAGE if a state file has no room for so many options. */
ddp_status ddp_remember_options(ddp_checkpoint_run *run, const ddp_options *options, int ranks,
                                const ddp_data_files *inputs, ddp_error *err) DDP_MUST_CHECK;

/* Add to run's options what the run validates on: `valid`, in words. NULL: it does not validate,
 * and what `was` says is kept. *since becomes the step since which the run validates on these
 * pictures; 0: always. was: metadata of the checkpoint that the run goes on from; all zero: it
 * begins anew. A checkpoint that names no pictures counts as validated on these. Call after
 * ddp_remember_options, and after run has been compared with a checkpoint. Fails with DDP_ERR_USAGE
 * if there is no room for it. */
ddp_status ddp_remember_validation(ddp_checkpoint_run *run, uint64_t *since,
                                   const ddp_checkpoint_metadata *was, const char *valid,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Add to run's options how many of the training list's n pictures have no label file: those whose
 * has[i] is 0. Call after ddp_remember_options, which sets the options anew, and after
 * ddp_checkpoint_resume, which takes run's last options for those that change rounding. Fails with
 * DDP_ERR_USAGE if there is no room for it. */
ddp_status ddp_remember_unlabelled(ddp_checkpoint_run *run, const char *has, size_t n,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Compare with the run that has saved `was` how many of the n pictures have no label file (has[i]
 * is 0). If more have none now, and all had one then, set each has[i] to 1, so that reading those
 * that are gone fails; a line says so. If more have none now, and some had none then, fail with
 * DDP_ERR_USAGE, since nobody knows which are gone. If `was` does not say how many, nothing
 * happens. */
ddp_status ddp_recall_unlabelled(const ddp_checkpoint_metadata *was, char *has, size_t n,
                                 ddp_error *err) DDP_MUST_CHECK;

#endif
