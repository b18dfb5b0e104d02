/* core/replica_check.h: sees that parameters and statistics are still the same on all ranks, in
 * mid-run.
 *
 * All ranks start alike and update with the same sums, so their parameters have the same bits after
 * every step. Running statistics that are composed exactly (core/batchnorm_stats.h) have the same
 * bits, too; of other statistics only rank 0's matter. A bit flip or a faulty processor makes
 * replicas diverge: from then on gradients are of different networks, and nothing else shows it.
 *
 * 1. ddp_replica_check_checksum   every -ddp_verify_every steps, on each rank
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

/* Open a check of the values of table and of `statistics`. All pointers must outlive it. *out is
 * set on success. Sends nothing. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_replica_check_open(ddp_replica_check **out, ddp_group *group,
                                  const ddp_param_table *table,
                                  const ddp_batchnorm_stats *statistics,
                                  ddp_error *err) DDP_MUST_CHECK;

void ddp_replica_check_close(ddp_replica_check *v); /* frees v; NULL is allowed */

/* Return this rank's checksum of what must be equal on all ranks: parameters, and BatchNorm's
 * running statistics if they are composed exactly. step: number of the step, for messages. Call
 * after the step's last backward pass, before its update. Waits for the GPU's queued work; sends
 * nothing. */
uint64_t ddp_replica_check_checksum(ddp_replica_check *v, size_t step);

/* Note that the last checksums were the same on all ranks, for later errors to name that step. */
void ddp_replica_check_note_equal(ddp_replica_check *v);

/* Find what differs, after checksums that differed. Always fails, with DDP_ERR_MISMATCH on every
 * rank. The text names the layer, the step, the last step where they were equal, and the ranks that
 * differ from the majority, with their hosts. If no side is larger, it names both, and says so.
 * If no array differs, it says that the comparing sum went wrong. Every rank calls it; blocks.
 * Fails otherwise with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_replica_check_name_difference(ddp_replica_check *v, ddp_error *err) DDP_MUST_CHECK;

#endif
