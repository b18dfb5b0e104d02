/* core/replica_check.h: sees that parameters and statistics are still the same on all ranks, in
 * mid-run.
 *
 * All ranks start from rank 0's and update with the same sums, so their parameters have the same
 * bits after every step. So have running statistics that are composed exactly
 * (core/batchnorm_stats.h); other statistics are overwritten with rank 0's whenever they
 * are shared, so only rank 0's matter. A bit flip or a faulty processor makes replicas diverge.
 * From then on gradients are of different networks, and nothing else shows it.
 *
 * At a moment when all ranks are to have the same: ddp_replica_check_checksum reads it all once.
 * The number that it returns is compared over all ranks (core/equal_check.h). Where ranks differ,
 * ddp_replica_check_name_difference, on all of them, says in what.
 *
 * Every -ddp_verify_every steps a checksum of all parameters, taken when the step's last backward
 * pass has ended, travels with the loss as a few small whole numbers whose sums tell whether all
 * ranks have the same (core/equal_check.h, core/replica_check.h); only where not, ranks exchange
 * one checksum an array.
 */
#ifndef DDP_CORE_REPLICA_CHECK_H
#define DDP_CORE_REPLICA_CHECK_H

#include "base/status.h"
#include "comm/group.h"
#include "core/batchnorm_stats.h"
#include "core/params.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ddp_replica_check ddp_replica_check;

/* All must outlive it. *out is set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_replica_check_open(ddp_replica_check **out, ddp_group *group,
                                  const ddp_param_table *table,
                                  const ddp_batchnorm_stats *statistics,
                                  ddp_error *err) DDP_MUST_CHECK;

void ddp_replica_check_close(ddp_replica_check *v); /* NULL is allowed */

/* Checksum of all that ranks have alike after the last backward pass of step, before its update.
 * Waits for a GPU. Local. */
uint64_t ddp_replica_check_checksum(ddp_replica_check *v, size_t step);

/* The last checksums taken were the same on all ranks. */
void ddp_replica_check_note_equal(ddp_replica_check *v);

/* They were not: DDP_ERR_MISMATCH on every rank, with the layer, the step, the step where they were
 * last the same, and which ranks have failed, with their hosts: those that differ from the
 * majority. Where no side is larger (two ranks), both are named, and that it is undecided. Blocks.
 * Fails also with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_replica_check_name_difference(ddp_replica_check *v, ddp_error *err) DDP_MUST_CHECK;

#endif
