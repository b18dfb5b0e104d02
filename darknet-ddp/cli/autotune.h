/* cli/autotune.h: -ddp_autotune 1: the buckets that suit this network on these hosts, and the
 * chunks in which their sums travel.
 *
 * In a run's first steps: some in which its layers are timed, then the network between ranks, then
 * what bench/tune.h predicts to be fastest is tried in turns with what is; then, with the buckets
 * chosen, other chunks in the same way. All of them are steps of
 * the run, with the bits that they would have anyway. What is chosen, all ranks get from rank 0,
 * which keeps it in NAME.tune; a run of the same kind finds it there. One run at most is tuned in a
 * process.
 */
#ifndef DDP_CLI_AUTOTUNE_H
#define DDP_CLI_AUTOTUNE_H

#include "base/status.h"
#include "cli/options.h"
#include "comm/group.h"
#include "glue/position.h"
#include "glue/trainer.h"

/* DDP_ERR_USAGE: it was asked for, and the group computes on GPUs. */
ddp_status ddp_autotune_check_device(const ddp_options *options, const ddp_group *group,
                                     ddp_error *err) DDP_MUST_CHECK;

/* Before the trainer is attached, on every rank: where NAME.tune is of such a run, the trainer gets
 * its buckets and chunks. All must outlive the run. Fails with DDP_ERR_COMM, DDP_ERR_NOMEM. */
ddp_status ddp_autotune_open(const ddp_options *options, ddp_group *group, ddp_trainer *trainer,
                             const char *directory, const char *cfg, ddp_error *err) DDP_MUST_CHECK;

/* The trainer is attached, and the first step comes: begin, and say what is done. */
ddp_status ddp_autotune_begin(network *net, const ddp_position *now, ddp_error *err) DDP_MUST_CHECK;

/* A step begins to end, and has: all that is done in between is no part of one. */
void ddp_autotune_step_ends(void);
ddp_status ddp_autotune_step_ended(network *net, ddp_error *err) DDP_MUST_CHECK;

#endif
