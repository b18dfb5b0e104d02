/* core/reducer.h: sums each step's gradients over ranks while backward runs.
 *
 * Gradients lie in bucket memory: opening a reducer points the framework's gradient pointers there,
 * closing it points them back. Nothing is copied in between.
 *
 * One step has several backward passes, one for each mini-batch; the last one syncs. Calls in their
 * order, the same on every rank:
 *
 *   1. ddp_reducer_backward_begin(r, sync)   before each backward pass
 *   2. ddp_reducer_drop_layers               after it, if the table has blocks
 *   3. ddp_reducer_layer_ready(r, layer)     as each layer's gradients are final
 *      ddp_reducer_progress(r)               often, in between
 *   4. ddp_reducer_backward_end(r)           after the pass
 *   5. ddp_reducer_launch_deferred(r)        after a syncing pass, and after whatever must travel
 *                                            before the late and the deferred buckets
 *   6. the update; the next pass may sync only after it:
 *
 *      plain                  layer_fence, or layer_wait, before each layer is updated
 *      may be skipped         fence_all and finite; then layer_fence before each layer is
 *                             updated, or discard_step in place of all updates
 *      config.halves          layer_fence before each layer is updated; send_updated after
 *                             the last of them; receive_updated for each layer
 *      no sync (local SGD)    check_own_finite, if wanted; use_own_gradients before each
 *                             layer is updated
 *
 * The layer_fence or receive_updated of a layer may come as late as the next forward pass comes to
 * it. ddp_reducer_finite may follow any fence. After fence_all, layer_fence waits no more. No
 * layer_fence may stand between fence_all and discard_step.
 *
 * Launching. Without sync gradients add up in place. With sync a bucket whose every layer is ready,
 * and whose predecessors are launched, is launched at once. The order is one on every rank: the
 * plan's, but for late and deferred buckets. It does not depend on readiness. A call to
 * backward_end launches all other buckets but the late and deferred ones: layers that did not run,
 * and so added nothing, count as ready then.
 *
 * Deferred buckets (config.defer_bytes). The wire is idle while the next forward pass runs, and the
 * last layers are the last that it needs. The plan's first buckets hold the last layers, and may be
 * launched after all others. Their layers are fenced and updated when the forward pass comes to
 * them.
 *
 * Priority (config.priority). The gradients that are left when backward has ended are those of the
 * first layers, which the next forward pass needs first. So the plan's last buckets are late: they
 * are launched after backward, from the first layer on, before the deferred ones
 * (core/launch_order.h). ddp_reducer_adapt_order decides how many are late. With config.piece_bytes
 * a large bucket travels in several pieces, so that urgent ones need not wait for all of it. All
 * ranks compute one order before the pass from values that all have, so none waits for a bucket
 * that another has postponed.
 *
 * Layers that are not updated. A layer is *unused* if it ran on no rank since the last step,
 * *frozen* by the cfg, or *dropped* by an algorithm. A run count travels with every parameter
 * (core/bucket_plan.h). A rank reads it only for a layer that did not run there, so that on a GPU
 * the program seldom waits for it. An unused layer must keep its value and optimizer state, and its
 * gradient is zero on all ranks. Without find_unused, a layer that should run and did not is an
 * error that names it. Frozen layers (table->first_trained) are in no bucket. All ranks know
 * dropped layers without a message. A bucket is not sent if all its layers were dropped in each
 * pass since the last syncing one.
 *
 * Exact sums (config.mini_batches). Mini-batches add up in a fixed binary tree (core/tree_sum.h),
 * layer by layer as each is ready. With powers of two, a step's sum has the same bits on any number
 * of ranks.
 *
 * Halves (config.halves). After layer_fence this rank has the sum of its own share of the layer's
 * gradients, and updates only these parameters. After the last layer's update
 * ddp_reducer_send_updated starts the second halves. They carry the updated parameters, in the
 * order in which the next forward pass needs them. A call to ddp_reducer_receive_updated waits for
 * those of a layer. Run counts travel in a small sum after the buckets. The layer_fence of a layer
 * waits for this sum only if the layer did not run here; ddp_reducer_send_updated always does.
 * Whether gradients were finite is known only after the updated parameters have been received.
 *
 * A step that failed cannot be finished, and the other ranks wait for this one: end the job
 * (ddp_group_abort). If another rank gives up first, by the group's timeout, its error names the
 * bucket, the bucket's layers and the rank that owes it. */
#ifndef DDP_CORE_REDUCER_H
#define DDP_CORE_REDUCER_H

#include "base/status.h"
#include "comm/work.h"
#include "core/bucket_plan.h"
#include "core/option_names.h"
#include "core/params.h"
#include "core/sum_plug.h"
#include "watch/watch.h"

#include <stdint.h>

typedef struct ddp_reducer ddp_reducer;

typedef struct ddp_reducer_config {
    size_t bucket_bytes;       /* bytes after which a bucket is full (core/bucket_plan.h) */
    size_t first_bucket_bytes; /* bytes after which the first bucket is full */
    size_t defer_bytes; /* bytes of the plan's first buckets that may be deferred, at most a quarter
                           of all gradients; 0: none. Must be 0 with halves or sum */
    size_t piece_bytes; /* larger buckets travel in pieces of about so many bytes; 0: each bucket is
                           one sum. Must be 0 with halves or sum */
    /* 1: the sums left when backward ends start from the first layer on. Must be 0 with halves or
     * sum */
    int priority;
    int overlap;     /* 1: launch buckets while backward runs; 0: all at backward_end */
    int find_unused; /* 1: a layer may be unused; 0: that is an error */
    ddp_wire wire;   /* how gradients travel; must be FP32 with mini_batches, which is exact */
    /* Makes the numbers that are summed in place of gradients (core/sum_plug.h), called with
     * sum_self. NULL: gradients themselves are summed. Allowed only with DDP_WIRE_FP32 and without
     * mini_batches and halves. A rank that is alone does not use it. ddp_reducer_use_plug says in
     * which passes. */
    const ddp_sum_plug *sum;
    void *sum_self;
    const ddp_option_names *names; /* names of options for errors; NULL: plain words */
    ddp_watch *watch;              /* is told what is launched, waited for and landed; NULL: none */
    int halves;       /* 1: with more than one rank, make sums in two halves (head of this file) */
    int mini_batches; /* 0: mini-batches add up in place. Else a power of two: they are summed in a
                         tree, at most so many between two syncing passes */
} ddp_reducer_config;

/* Wall time on this rank since the reducer was opened, in nanoseconds. */
typedef struct ddp_reducer_times {
    int64_t wait_ns;  /* time in fences: communication that nothing hid */
    int64_t drive_ns; /* time in progress and launches: CPU time taken from compute */
} ddp_reducer_times;

/* Move the gradients of table into buckets; their values are kept. Every rank opens with the same
 * table and config. table, group and what config points to must outlive *out, which is set on
 * success. Fails with DDP_ERR_USAGE (mini_batches is no power of two; halves or sum with
 * defer_bytes, piece_bytes or priority), DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_reducer_open(ddp_reducer **out, ddp_group *group, const ddp_param_table *table,
                            const ddp_reducer_config *config, ddp_error *err) DDP_MUST_CHECK;

/* Move the gradients, with their values, back into the framework's memory, and free r. NULL is
 * allowed. No bucket may be in flight, unless the group failed. */
void ddp_reducer_close(ddp_reducer *r);

/* Return the plan of buckets; r owns it. */
const ddp_bucket_plan *ddp_reducer_plan(const ddp_reducer *r);

/* Return how many pieces the buckets of the plan are cut into. Each piece has a sum of its own. */
size_t ddp_reducer_piece_count(const ddp_reducer *r);

/* Return the sum of a piece, owned by r; with a plug, the last sum of the piece's bucket. Returns
 * NULL if that bucket is dropped in this pass, and so not sent. piece: its index in the plan's
 * order, below ddp_reducer_piece_count. *bucket is set to the bucket's index in any case. */
const ddp_work *ddp_reducer_sum(const ddp_reducer *r, size_t piece, size_t *bucket);

/* Return how many floats of a bucket one rank adds to sums over ranks in this pass. They are
 * gradients with alignment gaps, or the plug's numbers. Run counts are included, though
 * config.halves sends them apart from the bucket. */
size_t ddp_reducer_bucket_floats(const ddp_reducer *r, size_t bucket);
/* Return how many floats of all buckets one rank adds to sums over ranks. */
size_t ddp_reducer_floats(const ddp_reducer *r);

/* Return 1 if, in this pass, some gradient of the layer travels in a deferred or late bucket, which
 * ddp_reducer_launch_deferred launches. */
int ddp_reducer_is_deferred(const ddp_reducer *r, int layer);

/* Choose what is summed from the next pass on. on: 1: the numbers of config.sum, as after
 * ddp_reducer_open; 0: gradients. The same on every rank. Does nothing without config.sum. */
void ddp_reducer_use_plug(ddp_reducer *r, int on);

/* Begin a backward pass. sync: 1 if this pass is the step's last, and sums over ranks; else 0.
 * Since the last syncing pass every layer must have been fenced or discarded. */
void ddp_reducer_backward_begin(ddp_reducer *r, int sync);

/* Return 1 if the pass that began last syncs. */
int ddp_reducer_syncs(const ddp_reducer *r);

/* Say that layers below `first` run on no rank, from this pass until the next call; before the
 * first call it is 0. Call it with the same value on every rank. No rank then waits to hear whether
 * they ran elsewhere, and without find_unused it is no error that they do not run. */
void ddp_reducer_freeze_layers(ddp_reducer *r, int first);

/* Say which layers are dropped in this pass. dropped[l]: not 0 if layer l is; the same on every
 * rank. A block (table->block) is dropped whole or not at all. Call after each
 * ddp_reducer_backward_begin, if the table has blocks. */
void ddp_reducer_drop_layers(ddp_reducer *r, const char *dropped);

/* Say that the gradients of layer are final in this pass. If the pass syncs, with config.overlap,
 * also launch the buckets that are full. Repeats are ignored, and so are layers that are frozen or
 * have no parameters. Fails with DDP_ERR_COMM, or DDP_ERR_USAGE where the pass is the last of
 * config.mini_batches and does not sync. */
ddp_status ddp_reducer_layer_ready(ddp_reducer *r, int layer, ddp_error *err) DDP_MUST_CHECK;

/* Move messages of launched buckets along, and start sums whose turn has come. Does not wait. Call
 * often while the framework computes. Fails with DDP_ERR_COMM. */
ddp_status ddp_reducer_progress(ddp_reducer *r, ddp_error *err) DDP_MUST_CHECK;

/* End the pass. If it syncs, launch all buckets but late and deferred ones. With a plug of two
 * rounds, wait until the second sum of the last bucket has started; with NCCL that is no wait. So
 * the caller's next sum is sent after all of these. Fails with DDP_ERR_COMM. Fails with
 * DDP_ERR_USAGE if a layer did not run, find_unused is 0 and ddp_reducer_freeze_layers does not
 * allow it; the text names the last such layer of the network. Fails so, too, if the pass is the
 * last of config.mini_batches and does not sync. */
ddp_status ddp_reducer_backward_end(ddp_reducer *r, ddp_error *err) DDP_MUST_CHECK;

/* Return how many elements were launched before backward ended and have not arrived on this rank.
 * Call after the ddp_reducer_backward_end of a syncing pass. Moves no data. */
size_t ddp_reducer_backlog(const ddp_reducer *r);

/* Plan the order of the next syncing pass; only with config.priority. backlog: the mean over ranks
 * of what ddp_reducer_backlog returned, the same on every rank. Earlier backlogs count, too. */
void ddp_reducer_adapt_order(ddp_reducer *r, size_t backlog);

/* Launch the late and the deferred buckets. Call after the ddp_reducer_backward_end of a syncing
 * pass. Does not wait. Fails with DDP_ERR_COMM. */
ddp_status ddp_reducer_launch_deferred(ddp_reducer *r, ddp_error *err) DDP_MUST_CHECK;

/* Fence the sums of a layer: the device's later work finds them in the layer's gradients. With NCCL
 * this blocks only if the layer did not run here; without NCCL, until the sums are there. *used
 * becomes 0 if the layer is not to be updated: it is frozen or dropped, or ran on no rank since its
 * last fence. Else 1, also for a layer without parameters, even a frozen one. Fails with
 * DDP_ERR_COMM, or DDP_ERR_USAGE where the layer's buckets have not been launched. */
ddp_status ddp_reducer_layer_fence(ddp_reducer *r, int layer, int *used,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Fence the sums of a layer and set *used, as ddp_reducer_layer_fence does. Then block until all
 * sums that have a fence are there (ddp_group_synchronize). */
ddp_status ddp_reducer_layer_wait(ddp_reducer *r, int layer, int *used,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Return the memory of all buckets, plan->count floats on the table's device; r owns it. */
float *ddp_reducer_memory(const ddp_reducer *r);

/* With config.halves and several ranks, return the sum of each bucket by its index, over its
 * gradients without run counts; r owns them. NULL otherwise. */
ddp_work *const *ddp_reducer_halves(const ddp_reducer *r);

/* With config.halves: start to send the values that each rank has updated. Call when the last layer
 * is updated. Blocks until all fenced sums and the sum of run counts are there. Calls publish(ctx,
 * bucket) for each bucket just before it leaves; publish must put this rank's values into the
 * bucket's memory. Fails with DDP_ERR_COMM. */
ddp_status ddp_reducer_send_updated(ddp_reducer *r, void (*publish)(const void *ctx, size_t bucket),
                                    const void *ctx, ddp_error *err) DDP_MUST_CHECK;

/* With config.halves: wait until all ranks' values of a layer are there. Call for each layer after
 * ddp_reducer_send_updated. For each table->params[i] of the layer that was sent, take(ctx, i) is
 * called. take must copy the value from the gradient's memory, and set that memory to zero. Nothing
 * happens for a layer without gradients in buckets. Fails with DDP_ERR_COMM. */
ddp_status ddp_reducer_receive_updated(ddp_reducer *r, int layer,
                                       void (*take)(const void *ctx, size_t param), const void *ctx,
                                       ddp_error *err) DDP_MUST_CHECK;

/* Fence the sums of all launched buckets of this pass, so that ddp_reducer_finite covers the whole
 * step. Without NCCL this blocks until they are there. Call when all are launched; layer_fence
 * waits no more after it. Fails with DDP_ERR_COMM. */
ddp_status ddp_reducer_fence_all(ddp_reducer *r, ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if all numbers in the buckets that were fenced in this syncing pass are finite; with
 * config.halves, in those received. Else 0, and *bucket is the plan's index of the first bucket
 * with a number that is not finite. The same on every rank. On a GPU call ddp_group_synchronize
 * first (ddp_work_finite). */
int ddp_reducer_finite(const ddp_reducer *r, size_t *bucket);

/* Set all gradients to zero, as if no layer had run: the step is skipped. Call after
 * ddp_reducer_fence_all, in place of the fences of layers. */
void ddp_reducer_discard_step(ddp_reducer *r);

/* Multiply this rank's gradients of a layer by `factor`, for an update of this rank alone. Call
 * after a pass that does not sync, in place of the layer's fence. Returns 0 if the layer is not to
 * be updated: it is frozen, or did not run here since the last call for it (it was dropped, for
 * example). Else 1, also for a layer without parameters, even a frozen one. */
int ddp_reducer_use_own_gradients(ddp_reducer *r, int layer, double factor);

/* Look whether this rank's own gradients are finite, after a pass that does not sync. *finite
 * becomes 1 if all are, else 0. Waits for a GPU. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_reducer_check_own_finite(const ddp_reducer *r, int *finite,
                                        ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if the sums of all buckets of this syncing pass are launched and have ended on this
 * rank, with or without a fence; else 0. Moves no data. */
int ddp_reducer_done(const ddp_reducer *r);

/* Return the bytes of partial sums that config.mini_batches keeps aside; without it 0. */
size_t ddp_reducer_tree_bytes(const ddp_reducer *r);

/* Return the times since the reducer was opened. */
ddp_reducer_times ddp_reducer_total_times(const ddp_reducer *r);

#endif
