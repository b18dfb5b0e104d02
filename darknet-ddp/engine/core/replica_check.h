/* core/replica_check.h: checks during a run that all ranks still have the same parameters and, with
 * DDP_STATISTICS_EXACT, the same BatchNorm statistics.
 *
 * All ranks start with the same parameters and update them with the same sums. So they have the
 * same bits after every step; with -ddp_local_sgd, after every averaging. After a bit flip or an
 * error of a processor ranks train different networks, which nothing else may show.
 *
 * 1. ddp_replica_check_checksum   on each rank, every -ddp_verify_every steps or, with
 *    -ddp_local_sgd, in the first step from then on that begins with ranks in sync
 * 2. The checksum travels with the loss (ddp_loss_compare_number).
 * 3. If the checksums are equal: ddp_replica_check_note_equal. If they differ, on all ranks:
 *    ddp_replica_check_name_difference, which exchanges a checksum for each array. */
#ifndef DDP_CORE_REPLICA_CHECK_H
#define DDP_CORE_REPLICA_CHECK_H

#include "base/status.h"
#include "comm/group.h"
#include "core/batchnorm_stats.h"
#include "core/params.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ddp_replica_check ddp_replica_check;

/* Open a check of the parameters of table and of `statistics`, which is not NULL. All pointers must
 * outlive *out, which is set on success. Sends nothing. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_replica_check_open(ddp_replica_check **out, ddp_group *group,
                                  const ddp_param_table *table,
                                  const ddp_batchnorm_stats *statistics,
                                  ddp_error *err) DDP_MUST_CHECK;

void ddp_replica_check_close(ddp_replica_check *v); /* frees v; NULL is allowed */

/* Return this rank's checksum of its parameters, and of its running statistics if their mode is
 * DDP_STATISTICS_EXACT. step: number of the step, for messages. Call after the step's last backward
 * pass, before its update. Waits for the GPU's queued work; sends nothing. */
uint64_t ddp_replica_check_checksum(ddp_replica_check *v, size_t step);

/* Note that the last checksums were equal on all ranks. A later error names that step. */
void ddp_replica_check_note_equal(ddp_replica_check *v);

/* Find what differs, after checksums that differed. Every rank calls it; blocks. Always fails: with
 * DDP_ERR_MISMATCH on every rank, or with DDP_ERR_NOMEM, DDP_ERR_COMM. The text of DDP_ERR_MISMATCH
 * names:
 *   - the step, and the first array that differs, parameters before statistics
 *   - the last step at which all ranks were known to be equal, if any
 *   - the ranks that differ from the largest equal group, with their hosts; on a tie, both sides
 * If no array differs, it says that the sum of ddp_loss_compare_number went wrong. */
ddp_status ddp_replica_check_name_difference(ddp_replica_check *v, ddp_error *err) DDP_MUST_CHECK;

#endif
