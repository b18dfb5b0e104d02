/* core/compressor.h: less to sum than all gradients: PowerSGD or top-k between a full bucket and
 * its sum.
 *
 * PowerSGD: Vogels et al. 2019, "PowerSGD: Practical Low-Rank Gradient Compression for Distributed
 * Optimization", algorithms 1 and 2, and PyTorch's powerSGD_hook. Of a weight matrix a rank sends
 * two thin ones, P and Q, in two sums of which the second needs the first. With g this rank's
 * gradient, e its error (core/feedback.h), N ranks:
 *
 *     M = g + e
 *     P = M Q                         first sum, over ranks
 *     P = orth(P)                     on each rank alike
 *     Q = M^T P                       second sum
 *     the gradient becomes P Q^T, e becomes M - P Q^T / N, and orth(Q) begins the next step
 *
 * so that what is not sent now is added to what is sent later: over ranks, gradient and errors
 * together are what went in. Parameters that are no matrices or too small to pay, and run counts,
 * go plain in the first sum.
 *
 * Top-k: Stich, Cordonnier and Jaggi 2018, "Sparsified SGD with Memory". A rank tells of each
 * M = g + e the so many percent that are largest in magnitude, and where they are; what it has not
 * told becomes e. Ranks need what each has told, not a sum of it; but a sum in which each rank has
 * a place of its own, and zero in the others', is just that, on any transport and schedule, for
 * twice the bytes of a gather. So it grows with the ranks: N * 2 k numbers. On each rank what they
 * tell is added up in the order of ranks. There is no second sum.
 *
 * It is the same whatever the buckets: each parameter is compressed by itself, and each number has
 * the one order of summation of comm/group.h.
 *
 * Order. Sums must start in one order on every rank, and the second sum of a bucket can start only
 * when its first has arrived, which is a matter of chance. So the order is fixed: firsts of buckets
 * 0 and 1, second of 0, first of 2, second of 1, and so on. A bucket that is full waits for
 * its turn, and so two buckets are under way while backward computes on. A bucket without a second
 * sum, of top-k or of plain parameters alone, waits for nothing.
 *
 * On a GPU P, its sum and Q are made on a queue beside the framework's work
 * (ddp_device_queue_open), which waits for a bucket's gradients and for its first sum; with NCCL
 * the program waits for none of this, so that all turns follow at once. Landing is the framework's
 * own work, but for the next Q.
 *
 * The memory of gradients has M while sums travel. Nothing else changes before a parameter is
 * landed: a step that is dropped leaves errors and Q as they were.
 *
 * -ddp_compress powersgd:R and topk:P stand between a full bucket and its sum: the reducer gives
 * the bucket to a compressor (core/compressor.c, PyTorch would say a communication hook), which has
 * two sums for it in small memory of its own, of which the second is made of the first
 * (device/matrix.c); topk:P has one (device/top_k.c). Both must start in one order on all ranks, so
 * their order is fixed, with two buckets under way, and backward_end waits until the last one has
 * started: the loss comes behind; buckets with one sum wait for nothing. What a bucket's sums tell
 * becomes gradients, parameter by parameter, when a layer has its fence; a step that is dropped has
 * none, and so leaves errors and Q as they were. These are core/feedback.c's: the trainer opens it
 * before a run is resumed, state/feedback.c finds its arrays in a state file, and saves/policy.c
 * has rank 0 gather them where a save is due. What is computed for all this is device/compress.h's.
 *
 * Compression (device/cuda_matrix.cu, cuda_top_k.cu) has a queue of its own beside the default
 * stream (ddp_device_queue_open): it waits there for a bucket's gradients, makes what the first sum
 * needs, and waits for that sum to make the second (ddp_allreduce_start_behind,
 * ddp_allreduce_fence_before), so with NCCL neither the backward pass nor the program waits for any
 * of it. Without NCCL a first sum has to be in pinned memory before the second can be queued: polls
 * at the hooks see to that, and backward_end waits for what is left. What has arrived becomes
 * gradients on the default stream, before the update; the next Q is made on the queue. Errors and Q
 * are the GPU's while a reducer is open (ddp_feedback_use); a save pulls them.
 */
#ifndef DDP_CORE_COMPRESSOR_H
#define DDP_CORE_COMPRESSOR_H

#include "comm/group.h"
#include "core/feedback.h"
#include "core/params.h"
#include "core/plan.h"

typedef struct ddp_compressor ddp_compressor;

/* memory is the plan's, of table's device, with run counts at the end of each bucket. All must
 * outlive it, and feedback, which is of the same table, and used there (ddp_feedback_use) until
 * this is closed. *out is set on success. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_compressor_open(ddp_compressor **out, ddp_group *group, const ddp_table *table,
                               const ddp_plan *plan, float *memory, ddp_feedback *feedback,
                               ddp_error *err) DDP_MUST_CHECK;
void ddp_compressor_close(ddp_compressor *c); /* NULL is allowed */

/* A pass that syncs begins: nothing is started, and everything of the last one has landed. */
void ddp_compressor_begin(ddp_compressor *c);

/* May the next bucket's first sum start? */
int ddp_compressor_may_start(const ddp_compressor *c);

/* Start it: gradients and run counts of the bucket, the plan's next, are final. Fails with
 * DDP_ERR_COMM. */
ddp_status ddp_compressor_start(ddp_compressor *c, ddp_error *err) DDP_MUST_CHECK;

/* In its place, on every rank: the bucket has no sums in this pass. */
void ddp_compressor_skip(ddp_compressor *c);

/* The bucket whose second sum is the next to start, or the plan's number of buckets where all have
 * started. */
size_t ddp_compressor_next(const ddp_compressor *c);

/* Is it its turn, and would ddp_compressor_go_on not wait? */
int ddp_compressor_may_go_on(const ddp_compressor *c);

/* It is its turn: start the second sum, once the first has arrived, as far as the program has to
 * wait for it. Fails with DDP_ERR_COMM. */
ddp_status ddp_compressor_go_on(ddp_compressor *c, ddp_error *err) DDP_MUST_CHECK;

/* The bucket's last sum that is not empty: what travels last. The compressor's. */
ddp_allreduce *ddp_compressor_sum(const ddp_compressor *c, size_t bucket);

/* Has the bucket's last sum ended? Does not move data. */
int ddp_compressor_done(const ddp_compressor *c, size_t bucket);

/* Were both sums of a bucket, which have had their fence, finite? The same on every rank. */
int ddp_compressor_finite(const ddp_compressor *c, size_t bucket);

/* After the fence of its bucket's sum, once: the gradient of table->params[i] becomes the sum over
 * ranks, and its run count, too. Where its layer ran on no rank the gradient is zero, and error and
 * Q stay. */
void ddp_compressor_land(ddp_compressor *c, size_t i);

/* Numbers that both sums of a bucket have. */
size_t ddp_compressor_count(const ddp_compressor *c, size_t bucket);

#endif
