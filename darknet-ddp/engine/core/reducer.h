/* core/reducer.h: sums each step's gradients over ranks while backward runs.
 *
 * Gradients live in bucket memory: opening a reducer points the framework's
 * gradient pointers there, closing it points them back. Nothing is copied.
 *
 * One step, as its caller sees it (several mini-batches, the last one syncs):
 *
 *   ddp_reducer_backward_begin(r, sync)   before each backward pass
 *   ddp_reducer_layer_ready(r, layer)     in it, as each layer's gradient is final
 *   ddp_reducer_progress(r)               in it, often
 *   ddp_reducer_backward_end(r)           after it
 *   ddp_reducer_launch_deferred(r)        after the syncing one
 *   ddp_reducer_layer_fence(r, layer)     before each update, once for each layer; or
 *   ddp_reducer_layer_wait(r, layer)      where the program reads the result, or waits for the GPU
 *
 * Without sync gradients only add up in place. With sync a bucket whose every
 * layer is ready, and whose predecessors are launched, is launched at once.
 * Buckets are launched in one order on every rank, the plan's, whatever the order of
 * readiness. backward_end launches what is left: layers that did not run, and so
 * added nothing, count as ready then.
 *
 * Deferred buckets. The wire is idle while the next forward pass runs, and the
 * last layers are the last that it needs. So the first buckets of the plan, which
 * hold the last layers, may be launched after all others, and in the order in which
 * the forward pass needs them; their layers are waited for and updated when it comes
 * to them.
 *
 * Priority (config.priority). What the wire cannot carry while backward runs is left when it has
 * ended. That is of the first layers, which the next forward pass needs first. So the last buckets
 * of the plan are late: they are launched when backward has ended, just before the deferred ones,
 * from the first layer on, and their layers are updated in the forward pass, too
 * (core/launch_order.h). How many are late follows from ddp_reducer_adapt_order. With
 * config.piece_bytes a large bucket travels in several sums: more urgent ones need not wait for all
 * of it, nor a layer for other layers' parts. Ranks need no message to agree on the order, and no
 * rank can wait for a bucket that another has postponed, because all compute one order before the
 * pass from values that all have.
 *
 * Unused layers. A run count travels with every parameter (core/bucket_plan.h): ranks
 * sum on how many of them its layer ran since the last step, in any mini-batch. A rank reads
 * the sum only for a layer that did not run there, so that on a GPU the program seldom
 * waits for it.
 * layer_fence tells whether it ran on any rank: a layer that ran nowhere must
 * keep its value and optimizer state, and its gradient is zero everywhere.
 * Without find_unused a layer that should run and did not is an error that names
 * it. Frozen layers (table->first_trained) are in no bucket and never used.
 *
 * Layers that are left out (ddp_reducer_drop_layers) are known to run on no rank, so no rank has to
 * ask. A bucket in which all were left out, in each pass since the last syncing one, is not sent.
 *
 * Exact sums (config.mini_batches). Mini-batches then do not add up in place, one after the
 * other, but in a fixed binary tree (core/tree_sum.h), layer by layer as each is ready. With
 * powers of two the step's sum has the same bits whatever the number of ranks.
 *
 * In halves (config.halves). A bucket's sum is then made in two halves. layer_fence tells that this
 * rank has its share of a layer's sums, which it updates; after the last layer's update
 * ddp_reducer_send_updated starts the second halves, in the order in which the next forward pass
 * needs them, and ddp_reducer_receive_updated waits for those of a layer. Run counts do not travel
 * in buckets but in a small sum after them. Only a rank on which a layer did not run waits for that
 * sum, before its update. That a gradient is not finite is known once it has been spread. Not with
 * config.sum.
 *
 * A step that failed cannot be finished, and the other ranks wait for this one:
 * end the job (ddp_group_abort). Where one of them gives up first, by the group's
 * timeout, its error names the bucket, its layers and the rank that owes it.
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
    size_t defer_bytes;        /* defer leading buckets of up to this much, and of a
                                  quarter of all gradients at most; 0: none */
    size_t piece_bytes;        /* larger buckets travel in several sums of about this much; 0: each
                                  in one. Not with halves or sum, nor is priority */
    int priority;              /* 1: what is left when backward ends goes first layers first */
    int overlap;               /* 0: launch nothing before backward_end */
    int find_unused;
    ddp_wire wire; /* how buckets travel; not with mini_batches, which is exact */
    /* What is summed in place of gradients (core/sum_plug.h), called with sum_self; none is then
     * deferred. With DDP_WIRE_FP32 and without mini_batches; not used on a rank that is alone.
     * NULL: gradients themselves. ddp_reducer_use_plug says in which passes. */
    const ddp_sum_plug *sum;
    void *sum_self;
    const ddp_option_names *names; /* for errors; NULL: plain words */
    ddp_watch *watch;              /* hears what is launched, waited for and landed; NULL: nobody */
    int halves;       /* 1: with more than one rank, each has the sum of its share of a bucket
                         alone, and the caller starts the other half; nothing is deferred */
    int mini_batches; /* 0, or: sum the mini-batches in a tree; the most backward passes from one
                   syncing one to the next, a power of two */
} ddp_reducer_config;

/* Time spent since the reducer was opened, in nanoseconds of wall time on this rank. */
typedef struct ddp_reducer_times {
    int64_t wait_ns;  /* in layer_fence: communication that nothing hid */
    int64_t drive_ns; /* in progress and launches: CPU time taken from compute */
} ddp_reducer_times;

/* Take over the gradients of table (which must outlive the reducer, as must
 * group). Their present values are kept. Every rank opens with the same table
 * and config. *out is set on success.
 * Fails with DDP_ERR_USAGE (mini_batches is no power of two), DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_reducer_open(ddp_reducer **out, ddp_group *group, const ddp_param_table *table,
                            const ddp_reducer_config *config, ddp_error *err) DDP_MUST_CHECK;

/* Give the gradients back to the framework, values included. NULL is allowed.
 * Not with buckets in flight, unless the group failed. */
void ddp_reducer_close(ddp_reducer *r);

const ddp_bucket_plan *ddp_reducer_plan(const ddp_reducer *r);

/* How many sums the plan's buckets travel in, and the i-th one, in the plan's order, the last one
 * where it is compressed; the reducer's. *bucket: whose it is. NULL: its layers were left out, and
 * it is not sent. */
size_t ddp_reducer_piece_count(const ddp_reducer *r);
const ddp_work *ddp_reducer_sum(const ddp_reducer *r, size_t piece, size_t *bucket);

/* Numbers that are summed of the bucket, and of all. */
size_t ddp_reducer_bucket_count(const ddp_reducer *r, size_t bucket);
size_t ddp_reducer_count(const ddp_reducer *r);

/* Does some gradient of layer travel, in this pass, in a deferred or late bucket? */
int ddp_reducer_is_deferred(const ddp_reducer *r, int layer);

/* Passes from the next one on go by config.sum (at first they do), or by gradients as they are:
 * the same on every rank. */
void ddp_reducer_use_plug(ddp_reducer *r, int on);

/* A backward pass starts. sync: it is the step's last, and sums over ranks. Every
 * layer has had its fence since the last syncing pass. */
void ddp_reducer_backward_begin(ddp_reducer *r, int sync);

/* Does the pass that began last sync? */
int ddp_reducer_syncs(const ddp_reducer *r);

/* From the pass that has begun on, and until called again, layers below first do not run on any
 * rank: with find_unused 0 too, and nobody asks the other ranks. At first 0. */
void ddp_reducer_freeze_layers(ddp_reducer *r, int first);

/* After each backward_begin of a reducer whose table has blocks, and the same on every rank: these
 * layers (a value for each of the network's) do not run in this pass; with find_unused 0 too. A
 * block is left out whole or not at all. */
void ddp_reducer_drop_layers(ddp_reducer *r, const char *dropped);

/* The gradients of layer are final in this pass. Repeats are ignored, and so
 * are layers without parameters. Fails with DDP_ERR_COMM, or DDP_ERR_USAGE where
 * the pass is the last of config.mini_batches and does not sync. */
ddp_status ddp_reducer_layer_ready(ddp_reducer *r, int layer, ddp_error *err) DDP_MUST_CHECK;

/* Let launched buckets travel on. Fails with DDP_ERR_COMM. */
ddp_status ddp_reducer_progress(ddp_reducer *r, ddp_error *err) DDP_MUST_CHECK;

/* The pass is over. Where gradients are compressed in two sums this waits until the second of the
 * last bucket has started, so that what the caller starts next is sent after all of them; but not
 * on a GPU with NCCL, where that is no wait. Fails with DDP_ERR_COMM, or DDP_ERR_USAGE as
 * layer_ready and, without find_unused, naming the first layer that did not run. */
ddp_status ddp_reducer_backward_end(ddp_reducer *r, ddp_error *err) DDP_MUST_CHECK;

/* After the backward_end of a syncing pass: elements that were launched before backward ended, and
 * have not landed on this rank. Does not move data. */
size_t ddp_reducer_backlog(const ddp_reducer *r);

/* With config.priority, after a syncing pass, on every rank with the same value: such a backlog,
 * and those of the passes before, is what the next one is planned for. */
void ddp_reducer_adapt_order(ddp_reducer *r, size_t backlog);

/* After the backward_end of a syncing pass, and after whatever else must travel
 * before the late and the deferred buckets: launch these. Fails with DDP_ERR_COMM. */
ddp_status ddp_reducer_launch_deferred(ddp_reducer *r, ddp_error *err) DDP_MUST_CHECK;

/* From here on the device finds the sum over ranks in every gradient of layer
 * (ddp_work_fence). *used becomes 0 if the layer ran on no rank since its last fence, else 1;
 * it is 1 for a layer without parameters. Fails with DDP_ERR_COMM, or DDP_ERR_USAGE where the
 * layer's buckets have not been launched. */
ddp_status ddp_reducer_layer_fence(ddp_reducer *r, int layer, int *used,
                                   ddp_error *err) DDP_MUST_CHECK;

/* The same, and wait in the program until all that has a fence is there. */
ddp_status ddp_reducer_layer_wait(ddp_reducer *r, int layer, int *used,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Memory of the plan's buckets, on the table's device; the reducer's. */
float *ddp_reducer_memory(const ddp_reducer *r);

/* With config.halves: the sum of each of the plan's buckets, of its gradients without run counts;
 * the reducer's. NULL: sums are made as a whole. */
ddp_work *const *ddp_reducer_halves(const ddp_reducer *r);

/* With it, after the update of the last layer: what every rank has made of its share starts to
 * travel. publish puts this rank's into the memory of each bucket, just before. Fails with
 * DDP_ERR_COMM. */
ddp_status ddp_reducer_send_updated(ddp_reducer *r, void (*publish)(const void *ctx, size_t bucket),
                                    const void *ctx, ddp_error *err) DDP_MUST_CHECK;

/* After it, for each layer: wait until all ranks' is there; take is then called for each of the
 * layer's parameters that travelled, and leaves its gradient zero. Fails with DDP_ERR_COMM. */
ddp_status ddp_reducer_receive_updated(ddp_reducer *r, int layer,
                                       void (*take)(const void *ctx, size_t param), const void *ctx,
                                       ddp_error *err) DDP_MUST_CHECK;

/* The fence of every bucket of this syncing pass, all of which are launched: for ddp_reducer_finite
 * to know all before a layer is updated, whose own fence is then due no more.
 * Fails with DDP_ERR_COMM. */
ddp_status ddp_reducer_fence_all(ddp_reducer *r, ddp_error *err) DDP_MUST_CHECK;

/* Of the buckets of this syncing pass that had their fence (on a GPU, and are settled; see
 * ddp_work_finite): are all finite? The same on every rank. Else *bucket of the plan is the
 * first that is not. */
int ddp_reducer_finite(const ddp_reducer *r, size_t *bucket);

/* In place of layer_fence, after fence_all: nothing of this step's gradients is to be used. They
 * become zero, and no layer has run. */
void ddp_reducer_discard_step(ddp_reducer *r);

/* In place of the fence, for a rank that updates on its own, after a pass that
 * does not sync: the layer's gradients become what this rank has times `factor`. Returns 0 if the
 * layer is not to be updated: it did not run here since it was last asked about, or is frozen. */
int ddp_reducer_use_own_gradients(ddp_reducer *r, int layer, double factor);

/* After such a pass: *finite: are all of this rank's gradients? Fails with DDP_ERR_NOMEM. */
ddp_status ddp_reducer_check_own_finite(const ddp_reducer *r, int *finite,
                                        ddp_error *err) DDP_MUST_CHECK;

/* Is every bucket of this syncing pass launched, and landed on this rank? Does not
 * move data. */
int ddp_reducer_done(const ddp_reducer *r);

/* Bytes of partial sums beside the gradients; 0 without config.mini_batches. */
size_t ddp_reducer_tree_bytes(const ddp_reducer *r);

ddp_reducer_times ddp_reducer_total_times(const ddp_reducer *r);

#endif
