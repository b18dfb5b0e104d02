/* saves/remembered_options.h: records in checkpoints the options, data files and device that a run
 * trains with, for -resume to compare with its own. */
#ifndef DDP_SAVES_REMEMBERED_OPTIONS_H
#define DDP_SAVES_REMEMBERED_OPTIONS_H

#include "inputs/data_files.h"
#include "options/options.h"
#include "state/checkpoint.h"

/* Set the options that run's checkpoints remember: those of the command line that change results or
 * rounding, the data files, the device, and what decodes pictures. Set run->device before. Fails
 * with DDP_ERR_USAGE if a state file has no room. ranks: their number; some values depend on it. */
ddp_status ddp_remember_options(ddp_checkpoint_run *run, const ddp_options *options, int ranks,
                                const ddp_data_files *inputs, ddp_error *err) DDP_MUST_CHECK;

/* Add to run's options which pictures it validates on. Call when run has been compared with the
 * checkpoint `was`. Fails with DDP_ERR_USAGE if there is no room.
 *   since  becomes the step up to which validations used other pictures; 0: none did
 *   valid  words for the pictures; NULL: the run does not validate, and keeps what `was` says
 *   was    checkpoint that the run goes on from; all zero: none */
ddp_status ddp_remember_validation(ddp_checkpoint_run *run, uint64_t *since,
                                   const ddp_checkpoint_metadata *was, const char *valid,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Add to run's options how many of the training list's n pictures have no label file: those whose
 * has[i] is 0. Call after ddp_remember_options and ddp_checkpoint_resume. Fails with DDP_ERR_USAGE
 * if there is no room. */
ddp_status ddp_remember_unlabelled(ddp_checkpoint_run *run, const char *has, size_t n,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Find out whether more pictures lack a label file than at checkpoint `was`. has[i]: 1: picture i
 * has one. Does nothing if no more do, or if `was` does not say how many did. If none did then,
 * prints a line and sets each has[i] to 1, so that reading a missing file fails. Else fails with
 * DDP_ERR_USAGE, since nobody knows which files are gone. */
ddp_status ddp_recall_unlabelled(const ddp_checkpoint_metadata *was, char *has, size_t n,
                                 ddp_error *err) DDP_MUST_CHECK;

#endif
