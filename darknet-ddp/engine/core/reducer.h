/* core/reducer.h: sums gradients over ranks while the backward pass runs, as the Reducer of
 * PyTorch's DistributedDataParallel does.
 *
 * A network's gradients lie in buckets. The sum of a bucket over ranks can start once the bucket's
 * last gradient is final. So most sums travel while backward computes other layers. While a reducer
 * is open, the framework's gradient pointers point into the buckets' memory.
 *
 * A step has a backward pass for each of its mini-batches. Gradients add up, and the last pass can
 * *sync*: sum them over ranks. The calls of a step, on every rank:
 *
 *   1. ddp_reducer_backward_begin(r, sync)   before each backward pass
 *   2. ddp_reducer_drop_layers               after call 1, if layers form blocks (table->block)
 *   3. ddp_reducer_layer_ready(r, layer)     as each layer's gradients are final
 *      ddp_reducer_progress(r)               often, in between
 *   4. ddp_reducer_backward_end(r)           after the pass
 *   5. ddp_reducer_launch_deferred(r)        after a syncing pass, and after any other message that
 *                                            must travel before the late and the deferred buckets
 *   6. the update, after the step's last pass:
 *
 *      plain                  layer_fence, or layer_wait, before each layer is updated
 *      may be skipped         fence_all and finite; then layer_fence before each layer is
 *                             updated, or discard_step in place of all updates
 *      config.sharded         layer_fence before each layer is updated; send_updated after
 *                             the last of them; receive_updated for each layer
 *      no sync (local SGD)    check_own_finite, if wanted; use_own_gradients before each
 *                             layer is updated
 *
 * The layer_fence or receive_updated of a layer may come as late as the next forward pass comes to
 * it. ddp_reducer_finite may follow any fence. After fence_all, layer_fence has nothing left
 * to fence. Do not call layer_fence between fence_all and discard_step.
 *
 * Launching. To launch a bucket is to start its sum. To *fence* a sum is to let work that is queued
 * on the device later find its result (ddp_work_fence); without NCCL this blocks. A syncing pass
 * launches a bucket only when all its layers are ready, and all buckets before it in the launch
 * order are launched. The launch order is the same on every rank: the plan's order, but *late*
 * buckets (config.priority) and *deferred* ones (config.defer_bytes) come last, when backward has
 * ended (core/launch_order.h). Layers that did not run count as ready then, so backward_end
 * launches all other buckets.
 *
 * Layers are not updated if they are *unused* (ran on no rank since the last update), *frozen* (by
 * the cfg) or *dropped* (by an algorithm). An unused layer must keep its value and optimizer state;
 * its gradient is zero on all ranks. To find unused layers, run counts are summed, too: on how many
 * ranks a layer ran (core/bucket_plan.h). The program reads one only for a layer that did not run
 * on this rank, so that it seldom waits for a GPU. Layers that are frozen for good
 * (table->first_trained) are in no bucket. A bucket is not sent if all its layers were dropped in
 * each pass since the last syncing one.
 *
 * Sharded updates (config.sharded), as in ZeRO-1. After layer_fence this rank has the sum of its
 * own share of the layer's gradients, and updates only these parameters. Then
 * ddp_reducer_send_updated starts an all-gather of each bucket's updated parameters, the first
 * layers' first. ddp_reducer_receive_updated waits for those of a layer.
 *
 * Failures. A step that failed cannot be finished, and other ranks wait for this one: end the job
 * (ddp_group_abort). If another rank gives up first, by the group's timeout, its error names
 * (without NCCL) the bucket, the bucket's layers and the rank that did not send. */
#ifndef DDP_CORE_REDUCER_H
#define DDP_CORE_REDUCER_H

#include "base/status.h"
#include "comm/work.h"
#include "core/bucket_plan.h"
#include "core/gradient_codec.h"
#include "core/option_names.h"
#include "core/params.h"
#include "watch/watch.h"

#include <stdint.h>

typedef struct ddp_reducer ddp_reducer;

/* Settings of a reducer. With sharded or codec, defer_bytes, piece_bytes and priority must be 0. */
typedef struct ddp_reducer_config {
    size_t bucket_bytes;       /* bytes at which a bucket is full, at least 1 */
    size_t first_bucket_bytes; /* bytes at which the first bucket is full, at least 1 */
    size_t defer_bytes; /* most bytes of all deferred buckets together, but no more than a quarter
                           of all gradients; 0: no bucket is deferred */
    size_t piece_bytes; /* larger buckets are summed in pieces of about this size; 0: each bucket is
                           one piece */
    int priority;       /* 1: ddp_reducer_adapt_order chooses late buckets; 0: no bucket is late */
    int overlap;        /* 1: launch buckets while backward runs; 0: none before backward_end */
    int find_unused; /* 1: a pass may leave a layer out; 0: such a pass fails, unless the layer is
                        frozen or dropped */
    /* type in which gradients are sent; with mini_batches it must be DDP_WIRE_FP32 */
    ddp_wire wire;
    /* Encodes gradients into the numbers that are summed (core/gradient_codec.h), called with
     * codec_self. NULL: the gradients are summed. Needs DDP_WIRE_FP32; not with mini_batches or
     * sharded. A rank that is alone does not use it. */
    const ddp_gradient_codec *codec;
    void *codec_self;
    const ddp_option_names *names; /* names of options for errors; NULL: plain words */
    /* watchdog, told which buckets are launched, waited for and landed; NULL: none */
    ddp_watch *watch;
    int sharded; /* 1: with several ranks, each updates its share alone (head of this file) */
    /* 0: gradients of mini-batches add up in place. Else a power of two, the most passes from one
     * sync to the next: their gradients are added layer by layer in the tree of core/tree_sum.h. */
    int mini_batches;
} ddp_reducer_config;

/* Wall time on this rank since the reducer was opened, in nanoseconds. */
typedef struct ddp_reducer_times {
    int64_t wait_ns;  /* time blocked in fences, second sums, send_updated and receive_updated */
    int64_t drive_ns; /* time spent starting and decoding sums, and moving messages along */
} ddp_reducer_times;

/* Move the gradients of table, with their values, into buckets. Every rank opens with the same
 * table and config; may block until all have. table, group and what config points to must outlive
 * *out, set on success. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. Fails with DDP_ERR_USAGE if NCCL is
 * to sum DDP_WIRE_FP8, if mini_batches is no power of two, or if defer_bytes, piece_bytes or
 * priority is not 0 with sharded or codec. */
ddp_status ddp_reducer_open(ddp_reducer **out, ddp_group *group, const ddp_param_table *table,
                            const ddp_reducer_config *config, ddp_error *err) DDP_MUST_CHECK;

/* Move the gradients, with their values, back into the framework's memory, and free r, if not NULL.
 * No bucket's sum may be in flight, unless the group failed. If sharded, waits for run counts. */
void ddp_reducer_close(ddp_reducer *r);

/* Return the plan of buckets; r owns it. */
const ddp_bucket_plan *ddp_reducer_plan(const ddp_reducer *r);

/* Return how many pieces all buckets have together. Each piece is summed by itself. */
size_t ddp_reducer_piece_count(const ddp_reducer *r);

/* Return the ddp_work that sums a piece; r owns it. NULL: the piece's bucket is not sent in this
 * pass. piece: 0 to ddp_reducer_piece_count - 1, in the plan's order. *bucket becomes the index of
 * the piece's bucket. With a codec a piece is a bucket, and the result is the last of its sums. */
const ddp_work *ddp_reducer_sum(const ddp_reducer *r, size_t piece, size_t *bucket);

/* Return how many floats a bucket has on this rank in this pass: gradients with alignment gaps, or
 * what the codec makes of them, and run counts. */
size_t ddp_reducer_bucket_floats(const ddp_reducer *r, size_t bucket);
/* Return the sum of ddp_reducer_bucket_floats over all buckets. */
size_t ddp_reducer_floats(const ddp_reducer *r);

/* Return 1 if ddp_reducer_layer_fence of the layer waits for a late or deferred bucket, else 0.
 * Call after the ddp_reducer_backward_end of a syncing pass, and before the layer's fence. */
int ddp_reducer_is_deferred(const ddp_reducer *r, int layer);

/* Choose what is summed from the next pass on. on: 1: the codec's numbers, as after
 * ddp_reducer_open; 0: gradients. The same on every rank. Does nothing without config.codec. */
void ddp_reducer_use_codec(ddp_reducer *r, int on);

/* Begin a backward pass. sync: 1 if it is the step's last, and sums over ranks; else 0. Every layer
 * of the last syncing pass must be fenced (if sharded, received), or that step discarded. */
void ddp_reducer_backward_begin(ddp_reducer *r, int sync);

/* Return 1 if the pass that began last syncs. */
int ddp_reducer_syncs(const ddp_reducer *r);

/* Freeze the layers below `first`, from this pass until the next call: they run on no rank, and are
 * not updated. That they do not run is no error, whatever config.find_unused is. Call after
 * ddp_reducer_backward_begin. `first` is the same on every rank, and 0 before the first call. */
void ddp_reducer_freeze_layers(ddp_reducer *r, int first);

/* Tell r which layers are dropped in this pass. dropped[l]: not 0 if layer l is dropped; the same
 * on every rank. A block (table->block) is dropped whole or not at all. If the table has blocks,
 * call one time after each ddp_reducer_backward_begin, before ddp_reducer_layer_ready. */
void ddp_reducer_drop_layers(ddp_reducer *r, const char *dropped);

/* Tell r that the gradients of a layer are final in this pass. If the pass syncs, with
 * config.overlap, this launches full buckets whose turn has come. Repeats are ignored, and so are
 * layers that are frozen or have no parameters. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM, and with
 * DDP_ERR_USAGE if this pass does not sync, but is the last of config.mini_batches. */
ddp_status ddp_reducer_layer_ready(ddp_reducer *r, int layer, ddp_error *err) DDP_MUST_CHECK;

/* Move messages of launched buckets along, and launch buckets whose turn has come. Waits only as
 * ddp_work_start does. Does nothing while no bucket is in flight. Fails with DDP_ERR_NOMEM,
 * DDP_ERR_COMM. */
ddp_status ddp_reducer_progress(ddp_reducer *r, ddp_error *err) DDP_MUST_CHECK;

/* End the pass. If it syncs, launch all buckets but the late and the deferred ones. With a codec,
 * also start all second sums; without NCCL this waits for first sums.
 *
 * Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. Fails with DDP_ERR_USAGE if:
 *   - this pass does not sync, but is the last of config.mini_batches
 *   - find_unused is 0, and a layer did not run that is neither frozen nor dropped */
ddp_status ddp_reducer_backward_end(ddp_reducer *r, ddp_error *err) DDP_MUST_CHECK;

/* Return how many elements have not arrived on this rank, of the buckets that are neither late nor
 * deferred. Call after the ddp_reducer_backward_end of a syncing pass. Does not move messages
 * along. */
size_t ddp_reducer_backlog(const ddp_reducer *r);

/* Choose how many sums are late (launch_order.h) in the next syncing pass; only with
 * config.priority. Call one time after a syncing pass, before the next one. backlog: the mean over
 * ranks of what ddp_reducer_backlog returned, the same on every rank. Backlogs of earlier steps
 * count, too. */
void ddp_reducer_adapt_order(ddp_reducer *r, size_t backlog);

/* Launch the late and the deferred buckets. Call after the ddp_reducer_backward_end of a syncing
 * pass. Waits only as ddp_work_start does. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_reducer_launch_deferred(ddp_reducer *r, ddp_error *err) DDP_MUST_CHECK;

/* Fence the sums of a layer, and all launched before them, so that work queued on the device later
 * finds them in the gradients. Call one time for each layer after a syncing pass. Without NCCL this
 * blocks until the sums have arrived; with NCCL only if the layer did not run here. Fails with
 * DDP_ERR_NOMEM, DDP_ERR_COMM, and with DDP_ERR_USAGE if a bucket of the layer is not launched.
 *
 * *update becomes 0 if the layer is unused, frozen or dropped (head of this file); else 1, also for
 * a layer without parameters. */
ddp_status ddp_reducer_layer_fence(ddp_reducer *r, int layer, int *update,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Call ddp_reducer_layer_fence for a layer, and then block until all sums that have a fence have
 * arrived (ddp_group_synchronize). Fails as the two functions. */
ddp_status ddp_reducer_layer_wait(ddp_reducer *r, int layer, int *update,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Return the memory of all buckets, plan->count floats on the table's device; r owns it. */
float *ddp_reducer_memory(const ddp_reducer *r);

/* Return the sums of the buckets' gradients, without run counts, by bucket; r owns them. NULL
 * without config.sharded, or with one rank. */
ddp_work *const *ddp_reducer_sharded_sums(const ddp_reducer *r);

/* With config.sharded and several ranks: start the all-gather of each bucket's updated parameters.
 * Call when the last layer is updated. Blocks until all fenced sums and the sum of run counts have
 * arrived. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM.
 *
 * publish is called with ctx just before a bucket is sent. It must write the values that this rank
 * has updated to the bucket's memory. If ddp_work_finite returns 0 for the bucket's sum, the first
 * of each range of this rank's share must be NaN: ddp_reducer_finite may look only there. */
ddp_status ddp_reducer_send_updated(ddp_reducer *r, void (*publish)(const void *ctx, size_t bucket),
                                    const void *ctx, ddp_error *err) DDP_MUST_CHECK;

/* Wait until the updated parameters of a layer have arrived from all ranks. Call one time for each
 * layer after ddp_reducer_send_updated. A layer without gradients in buckets is ignored. Fails with
 * DDP_ERR_NOMEM, DDP_ERR_COMM.
 *
 * take is called with ctx and i for each parameter table->params[i] of the layer that was sent. It
 * must copy the value from the gradient's memory to the parameter, and set that memory to zero. */
ddp_status ddp_reducer_receive_updated(ddp_reducer *r, int layer,
                                       void (*take)(const void *ctx, size_t param), const void *ctx,
                                       ddp_error *err) DDP_MUST_CHECK;

/* Fence the sums of all buckets of this syncing pass, so that ddp_reducer_finite covers the whole
 * step. Without NCCL this blocks until they have arrived. Call it when all buckets are launched.
 * Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_reducer_fence_all(ddp_reducer *r, ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if all buckets that were fenced in this syncing pass hold finite numbers. With
 * config.sharded, look at the buckets whose updated parameters were received instead. If a number
 * is not finite, return 0, and *bucket is the index of its bucket. The same on every rank if all
 * are fenced. On a GPU call ddp_group_synchronize before, with one rank ddp_device_synchronize. */
int ddp_reducer_finite(const ddp_reducer *r, size_t *bucket);

/* Skip the step: set all gradients to zero, as if no layer had run. Call after
 * ddp_reducer_fence_all, in place of the fences of layers. */
void ddp_reducer_discard_step(ddp_reducer *r);

/* Multiply this rank's gradients of a layer by `factor`, for an update of this rank alone. Call
 * after a pass that does not sync, in place of the layer's fence. Returns 0 if the layer is not to
 * be updated: it is frozen, or did not run here since the last call for it. Else returns 1, also
 * for a layer without parameters. */
int ddp_reducer_use_own_gradients(ddp_reducer *r, int layer, double factor);

/* Check this rank's own gradients after a pass that does not sync. *finite becomes 1 if all are
 * finite, else 0. Waits for a GPU. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_reducer_check_own_finite(const ddp_reducer *r, int *finite,
                                        ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if all buckets of this syncing pass are launched and their sums have ended on this rank,
 * with or without a fence; else 0. Does not move messages along. */
int ddp_reducer_done(const ddp_reducer *r);

/* Return how many bytes config.mini_batches takes for partial sums; 0 without it. */
size_t ddp_reducer_tree_bytes(const ddp_reducer *r);

/* Return the reducer's times, added up since it was opened. */
ddp_reducer_times ddp_reducer_total_times(const ddp_reducer *r);

#endif
