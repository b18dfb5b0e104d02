/* saves/remembered_options.h: what a state file says of the command line, the data files and the
 * build, so that -resume can compare it. */
#ifndef DDP_SAVES_REMEMBERED_OPTIONS_H
#define DDP_SAVES_REMEMBERED_OPTIONS_H

#include "inputs/data_files.h"
#include "options/options.h"
#include "state/checkpoint.h"

/* Fill run's options. ranks: how many train. Fails with DDP_ERR_USAGE where they have no room. */
ddp_status ddp_remember_options(ddp_checkpoint_run *run, const ddp_options *options, int ranks,
                                const ddp_data_files *inputs, ddp_error *err) DDP_MUST_CHECK;

/* Add what the run validates on, in words, and since which step it has done so: figures of before
 * are of other pictures. was: of the checkpoint that it goes on from, with which it has been
 * compared; empty: from none. valid: NULL: nothing; what was known is kept. Other pictures are no
 * reason not to go on. A checkpoint that says nothing of them had the same. Fails as
 * ddp_remember_options. */
ddp_status ddp_remember_validation(ddp_checkpoint_run *run, uint64_t *since,
                                   const ddp_checkpoint_metadata *was, const char *valid,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Add how many of n pictures of the training list have no label file; has[i] is 0 for these. Fails
 * as ddp_remember_options. */
ddp_status ddp_remember_unlabelled(ddp_checkpoint_run *run, const char *has, size_t n,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Where more have none than when the run began that has saved `was`, label files are gone. All had
 * one: has says so again, and what is gone cannot be read. Else DDP_ERR_USAGE: which are gone is
 * not known. */
ddp_status ddp_recall_unlabelled(const ddp_checkpoint_metadata *was, char *has, size_t n,
                                 ddp_error *err) DDP_MUST_CHECK;

#endif
