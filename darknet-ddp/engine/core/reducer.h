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
 *   6. the update, one row of this table; the next pass may sync only after it:
 *
 *      kind of step              before any update              of each layer
 *      plain                     -                              layer_fence, or layer_wait
 *      may be skipped            fence_all, then finite         layer_fence; or, for none of them,
 *                                                               discard_step
 *      config.halves             -                              layer_fence; then send_updated
 * once, and receive_updated did not sync (local SGD)  check_own_finite, if wanted use_own_gradients
 *
 * A layer's fence, or receive_updated, may wait until the next forward pass comes to the layer.
 * ddp_reducer_finite may follow any fence. After fence_all, layer_fence waits no more. No
 * layer_fence may stand between fence_all and discard_step.
 *
 * Launching. Without sync gradients add up in place. With sync a bucket whose every layer is ready,
 * and whose predecessors are launched, is launched at once. The order is the plan's on every rank,
 * and does not depend on readiness. A call to backward_end launches what is left: layers that did
 * not run, and so added nothing, count as ready then.
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
 * error that names it. Frozen layers (table->first_trained) are in no bucket. Of dropped layers all
 * ranks know without a message; a bucket in which all were dropped, in each pass since the last
 * syncing one, is not sent.
 *
 * Exact sums (config.mini_batches). Mini-batches add up in a fixed binary tree (core/tree_sum.h),
 * layer by layer as each is ready. With powers of two, a step's sum has the same bits on any number
 * of ranks.
 *
 * Halves (config.halves). layer_fence tells that this rank has the sum of its share of the layer's
 * gradients, which it updates. After the last layer's update ddp_reducer_send_updated starts the
 * second halves. They carry the updated parameters, in the order in which the next forward pass
 * needs them. A call to ddp_reducer_receive_updated waits for those of a layer. Run counts travel
 * in a small sum after the buckets; only a rank on which a layer did not run waits for it. Whether
 * gradients were finite is known once they have been received.
 *
 * A step that failed cannot be finished, and the other ranks wait for this one: end the job
 * (ddp_group_abort). Where one of them gives up first, by the group's timeout, its error names the
 * bucket, its layers and the rank that owes it.
 */
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
    size_t bucket_bytes;       /* capacity of a bucket */
    size_t first_bucket_bytes; /* capacity of the first one */
    size_t defer_bytes;        /* defer leading buckets of up to this much, and of a quarter of all
                                  gradients at most; 0: none. 0 with halves or sum */
    size_t piece_bytes;        /* larger buckets travel in several sums of about this much; 0: each
                                  in one. 0 with halves or sum */
    int priority;              /* 1: what is left when backward ends goes first layers first. 0 with
                                  halves or sum */
    int overlap;               /* 0: launch nothing before backward_end */
    int find_unused;           /* 1: a layer may be unused; 0: that is an error */
    ddp_wire wire;             /* how buckets travel; not with mini_batches, which is exact */
    /* Makes the numbers that are summed in place of gradients (core/sum_plug.h), called with
     * sum_self. NULL: gradients themselves are summed. With DDP_WIRE_FP32, without mini_batches and
     * halves. A rank that is alone does not use it. ddp_reducer_use_plug says in which passes it is
     * used. */
    const ddp_sum_plug *sum;
    void *sum_self;
    const ddp_option_names *names; /* for errors; NULL: plain words */
    ddp_watch *watch;              /* hears what is launched, waited for and landed; NULL: nobody */
    int halves;                    /* 1: with more than one rank, sums stop half way (see above) */
    int mini_batches; /* 0, or: sum the mini-batches in a tree; the most backward passes from one
                         syncing one to the next, a power of two */
} ddp_reducer_config;

/* Wall time on this rank since the reducer was opened, in nanoseconds. */
typedef struct ddp_reducer_times {
    int64_t wait_ns;  /* in fences: communication that nothing hid */
    int64_t drive_ns; /* in progress and launches: CPU time taken from compute */
} ddp_reducer_times;

/* Move the gradients of table into buckets; their values are kept. table and group must outlive the
 * reducer. Every rank opens with the same table and config. *out is set on success. Fails with
 * DDP_ERR_USAGE (mini_batches is no power of two; halves or sum with what config excludes),
 * DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_reducer_open(ddp_reducer **out, ddp_group *group, const ddp_param_table *table,
                            const ddp_reducer_config *config, ddp_error *err) DDP_MUST_CHECK;

/* Move the gradients, with their values, back into the framework's memory. NULL is allowed. No
 * bucket may be in flight, unless the group failed. */
void ddp_reducer_close(ddp_reducer *r);

/* Return the plan of buckets, the reducer's. */
const ddp_bucket_plan *ddp_reducer_plan(const ddp_reducer *r);

/* Return in how many pieces, a sum each, the plan's buckets travel. */
size_t ddp_reducer_piece_count(const ddp_reducer *r);

/* Return the sum of a piece, the reducer's; pieces are in the plan's order. With a plug: the last
 * one that the bucket has. *bucket: the piece's. NULL: the bucket is dropped, and is not sent. */
const ddp_work *ddp_reducer_sum(const ddp_reducer *r, size_t piece, size_t *bucket);

/* Return how many numbers are summed for a bucket, and for all. */
size_t ddp_reducer_bucket_count(const ddp_reducer *r, size_t bucket);
size_t ddp_reducer_count(const ddp_reducer *r);

/* Return 1 if some gradient of layer travels, in this pass, in a deferred or late bucket. */
int ddp_reducer_is_deferred(const ddp_reducer *r, int layer);

/* Have passes from the next one on sum what config.sum makes (1, as at first), or gradients (0).
 * The same on every rank. */
void ddp_reducer_use_plug(ddp_reducer *r, int on);

/* Begin a backward pass. sync: it is the step's last, and sums over ranks. Every layer has had its
 * fence since the last syncing pass. */
void ddp_reducer_backward_begin(ddp_reducer *r, int sync);

/* Return 1 if the pass that began last syncs. */
int ddp_reducer_syncs(const ddp_reducer *r);

/* Say that layers below `first` run on no rank, from the pass that has begun on, until called
 * again. Then no rank asks the others for them, and find_unused 0 allows it. At first 0. */
void ddp_reducer_freeze_layers(ddp_reducer *r, int first);

/* Say which layers are dropped in this pass. dropped: an entry for each layer of the network, the
 * same on every rank. After each backward_begin of a reducer whose table has blocks. A block is
 * dropped whole or not at all. */
void ddp_reducer_drop_layers(ddp_reducer *r, const char *dropped);

/* Say that the gradients of layer are final in this pass. If the pass syncs, with config.overlap,
 * also launch the buckets that are full. Repeats are ignored, and so are layers that are frozen or
 * have no parameters. Fails with DDP_ERR_COMM, or DDP_ERR_USAGE where the pass is the last of
 * config.mini_batches and does not sync. */
ddp_status ddp_reducer_layer_ready(ddp_reducer *r, int layer, ddp_error *err) DDP_MUST_CHECK;

/* Let launched buckets travel on. Fails with DDP_ERR_COMM. */
ddp_status ddp_reducer_progress(ddp_reducer *r, ddp_error *err) DDP_MUST_CHECK;

/* End the pass, and launch all but late and deferred buckets. With a plug of two rounds, wait until
 * the second sum of the last bucket has started; with NCCL that is no wait. So the caller's next
 * sum is sent after all of them. Fails with DDP_ERR_COMM, or DDP_ERR_USAGE as layer_ready
 * and, without find_unused, naming the first layer that did not run. */
ddp_status ddp_reducer_backward_end(ddp_reducer *r, ddp_error *err) DDP_MUST_CHECK;

/* After the backward_end of a syncing pass: return how many elements were launched before backward
 * ended and have not landed on this rank. Does not move data. */
size_t ddp_reducer_backlog(const ddp_reducer *r);

/* With config.priority, after a syncing pass: plan the next pass's order from this backlog, the
 * same value on every rank, and from those of the passes before. */
void ddp_reducer_adapt_order(ddp_reducer *r, size_t backlog);

/* Launch the late and the deferred buckets. After the backward_end of a syncing pass. Fails with
 * DDP_ERR_COMM. */
ddp_status ddp_reducer_launch_deferred(ddp_reducer *r, ddp_error *err) DDP_MUST_CHECK;

/* Fence the sums of a layer: from here on its device finds them in the layer's gradients
 * (ddp_work_fence). *used becomes 0 if the layer ran on no rank since its last fence, else 1; it is
 * 1 for a layer without parameters. Fails with DDP_ERR_COMM, or DDP_ERR_USAGE where the layer's
 * buckets have not been launched. */
ddp_status ddp_reducer_layer_fence(ddp_reducer *r, int layer, int *used,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Fence the sums of a layer, and wait in the program until all that has a fence is there. */
ddp_status ddp_reducer_layer_wait(ddp_reducer *r, int layer, int *used,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Return the memory of the plan's buckets, on the table's device; the reducer's. */
float *ddp_reducer_memory(const ddp_reducer *r);

/* With config.halves: return the sum of each of the plan's buckets, of its gradients without run
 * counts; the reducer's. NULL: sums are made as a whole. */
ddp_work *const *ddp_reducer_halves(const ddp_reducer *r);

/* With config.halves, when the last layer is updated: start to send each rank's updated values.
 * Calls publish for each bucket just before it leaves. That puts this rank's values into its
 * memory. Fails with DDP_ERR_COMM. */
ddp_status ddp_reducer_send_updated(ddp_reducer *r, void (*publish)(const void *ctx, size_t bucket),
                                    const void *ctx, ddp_error *err) DDP_MUST_CHECK;

/* After ddp_reducer_send_updated, for each layer: wait until all ranks' values of it are there.
 * take is called for each of its parameters that was sent. It copies the value from the gradient's
 * memory, and sets that to zero. A layer without gradients in buckets: nothing happens. Fails with
 * DDP_ERR_COMM. */
ddp_status ddp_reducer_receive_updated(ddp_reducer *r, int layer,
                                       void (*take)(const void *ctx, size_t param), const void *ctx,
                                       ddp_error *err) DDP_MUST_CHECK;

/* Fence the sums of all buckets of this pass (all must be launched), so that ddp_reducer_finite
 * covers the whole step. Replaces the fences of single layers. Fails with DDP_ERR_COMM. */
ddp_status ddp_reducer_fence_all(ddp_reducer *r, ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if all buckets of this syncing pass that had their fence are finite (on a GPU: and are
 * settled; see ddp_work_finite). The same on every rank. Else *bucket of the plan is the first that
 * is not. */
int ddp_reducer_finite(const ddp_reducer *r, size_t *bucket);

/* After fence_all, in place of the layers' fences: set all gradients to zero, as if no layer had
 * run. */
void ddp_reducer_discard_step(ddp_reducer *r);

/* After a pass that does not sync, in place of the layer's fence, where each rank updates on its
 * own: multiply the layer's gradients of this rank by `factor`. Returns 0 if the layer is not to be
 * updated: it is frozen, or did not run here since the last call for it. */
int ddp_reducer_use_own_gradients(ddp_reducer *r, int layer, double factor);

/* After such a pass: *finite becomes 1 if all of this rank's gradients are. Fails with
 * DDP_ERR_NOMEM. */
ddp_status ddp_reducer_check_own_finite(const ddp_reducer *r, int *finite,
                                        ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if every bucket of this syncing pass is launched and has landed on this rank. Does not
 * move data. */
int ddp_reducer_done(const ddp_reducer *r);

/* Return the bytes of partial sums beside the gradients; 0 without config.mini_batches. */
size_t ddp_reducer_tree_bytes(const ddp_reducer *r);

ddp_reducer_times ddp_reducer_total_times(const ddp_reducer *r);

#endif
