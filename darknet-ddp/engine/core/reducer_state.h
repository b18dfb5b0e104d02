/* core/reducer_state.h: the struct and the functions that the reducer's own files share; not for
 * other files. reducer.c follows a gradient through a step. Beside it: reducer_open.c (memory),
 * reducer_order.c (pieces and their order), reducer_unused.c (layers that did not run),
 * reducer_steps.c (are a step's sums finite, have they arrived?), reducer_sharded.c (ZeRO-1). */
#ifndef DDP_CORE_REDUCER_STATE_H
#define DDP_CORE_REDUCER_STATE_H

#include "comm/work.h"
#include "core/encoded_sums.h"
#include "core/launch_order.h"
#include "core/reducer.h"
#include "core/tree_sum.h"

/* The memory of one sum: a whole bucket, or with config.piece_bytes a part of a large one. */
typedef struct ddp_piece {
    size_t bucket;
    size_t offset; /* elements from the start of the plan's memory */
    size_t count;  /* number of elements */
} ddp_piece;

struct ddp_reducer {
    ddp_group *group;
    const ddp_param_table *table;
    ddp_reducer_config config;
    ddp_bucket_plan *plan;
    float *memory; /* all buckets, one after the other: plan->count floats on the table's device */
    size_t *first_param; /* layer_count + 1 entries: the parameters of layer l are
                            table->params[first_param[l]] to [first_param[l + 1] - 1] */
    size_t piece_count;
    ddp_piece *pieces;      /* all pieces, in the plan's order */
    ddp_work **sums;        /* sums[i]: the sum of pieces[i] over ranks */
    ddp_launch_order order; /* order in which pieces are launched in this pass */

    /* Members of the pass that has begun: */
    int sync;        /* 1: the pass sums over ranks; 0: gradients add up in place */
    char *ready;     /* by layer: 1 if its gradients are final in this pass */
    size_t *pending; /* by bucket: how many parameters are not ready */
    size_t limit;    /* how many pieces may be launched now: the first ones of the launch order */
    size_t launched; /* how many pieces are launched or dropped: the first of the launch order */
    size_t landed;   /* how many pieces are fenced or dropped: the first of the launch order */

    ddp_reducer_times total;

    /* ---- lists that open makes, and members of single options ---- */

    float **framework_memory; /* by parameter: the framework's gradients; NULL: frozen for good */
    size_t *piece_counts;     /* elements of each piece */
    size_t *first_piece;      /* bucket_count + 1 entries: the pieces of bucket b are
                                 pieces[first_piece[b]] to [first_piece[b + 1] - 1] */

    /* Members that are used only with config.codec: */
    ddp_encoded_sums *encoded_sums; /* NULL with one rank, or without config.codec */
    int encodes_next;               /* 1: the next pass sums encoded gradients */
    ddp_encoded_sums *encoded; /* encoded_sums, if the pass sums by it; NULL: it sums by sums[] */

    int mini_batch; /* how many passes have ended since the last syncing one */

    /* Members for layers that did not run: */
    float *counts; /* host memory for one bucket's run counts (core/bucket_plan.h) */
    char *ran;     /* by layer: 1: the layer ran on this rank since the last step */
    /* by layer: 1: the layer was dropped in every pass since the last syncing one */
    char *dropped;
    int frozen; /* layers below this one are frozen now (ddp_reducer_freeze_layers) */

    /* Members that are used only with config.sharded: */
    /* by layer: 1: the layer ran here; after the sum: on how many ranks the layer ran */
    float *ran_ranks;
    ddp_work *ran_sum; /* the sum over ranks of ran_ranks: which layers ran */
    int ran_started;   /* 1: ran_sum was started at least once */
    /* how many buckets' all-gathers of parameters this step has started (sent) or waited for
     * (received), from the plan's last bucket on; dropped buckets are counted, too */
    size_t sent, received;

    /* adds up mini-batches (core/tree_sum.h); NULL if config.mini_batches is 0 */
    ddp_tree_sum *tree;

    /* Members that are used only with config.priority: */
    /* least number of floats that the next syncing pass launches while backward runs; may be more
     * than there are */
    size_t early;
    ddp_launch_history history; /* history of the last steps, for ddp_launch_order_adapt */
};

/* Return 1 if the layer has gradients in buckets. */
static inline int ddp_reducer_trains(const ddp_reducer *r, int layer)
{
    return layer >= r->table->first_trained && r->first_param[layer] < r->first_param[layer + 1];
}

static inline int ddp_reducer_is_alone(const ddp_reducer *r)
{
    return ddp_group_size(r->group) == 1;
}

/* Return the last sum of a piece in this pass. A codec may use two sums for a piece, which is then
 * a bucket. */
static inline ddp_work *ddp_reducer_last_sum(const ddp_reducer *r, size_t piece)
{
    return r->encoded ? ddp_encoded_sums_last_sum(r->encoded, piece) : r->sums[piece];
}

/* Return the index of a bucket's last piece, which has the bucket's run counts. */
static inline size_t ddp_reducer_last_piece(const ddp_reducer *r, size_t b)
{
    return r->first_piece[b + 1] - 1;
}

/* ---- reducer.c ---- */

/* Copy the gradients of all trained layers to the buckets' memory, and point the framework's
 * pointers there. */
void ddp_reducer_take_gradients(ddp_reducer *r);
/* Add to the gradients the sums of earlier mini-batches that r->tree keeps. Then copy the gradients
 * back to the framework's memory, and point the framework's pointers there. */
void ddp_reducer_return_gradients(ddp_reducer *r);

/* ---- reducer_order.c: pieces, and the order in which they are launched ---- */

/* Cut the plan's buckets into pieces; write these and r->order to r. ddp_reducer_close_pieces frees
 * them, also after a failure. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_reducer_open_pieces(ddp_reducer *r, ddp_error *err);
void ddp_reducer_close_pieces(ddp_reducer *r);

/* Choose the late pieces of the syncing pass that begins, by r->early. Does nothing without
 * config.priority. */
void ddp_reducer_begin_order(ddp_reducer *r);

/* Return the place in the launch order, from 0, of the last piece that has gradients of this layer.
 * If the layer did not run on this rank, pieces with its run counts are included. */
size_t ddp_reducer_last_launch(const ddp_reducer *r, int layer);

/* Return 1 if all layers with gradients in bucket b are dropped, so that it is not sent; else 0. */
int ddp_reducer_is_bucket_dropped(const ddp_reducer *r, size_t b);

/* Put bucket b's layers, and its number from 1, before err's text. Returns err's code. */
ddp_status ddp_reducer_wrap_error(const ddp_reducer *r, size_t b, ddp_error *err);

/* ---- reducer_unused.c: layers that did not run ---- */

/* Write this rank's run counts into bucket b, just before it is launched: 1 for a parameter whose
 * layer ran here, else 0. Does nothing with one rank or config.sharded. */
void ddp_reducer_write_counts(ddp_reducer *r, size_t b);

/* `layer`: one with parameters that did not run in this pass, which is not checked. Fail with
 * DDP_ERR_USAGE if it had to: config.find_unused is 0, and ddp_reducer_freeze_layers has not frozen
 * it. The text names the layer. */
ddp_status ddp_reducer_check_unused(const ddp_reducer *r, int layer, ddp_error *err);

/* Set *update to 1 if the layer ran on any rank and must be updated, else 0. Forgets that the layer
 * ran here. Call after the fences of the layer's sums. Waits for the layer's run count only if the
 * layer did not run here. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_reducer_must_update(ddp_reducer *r, int layer, int *update, ddp_error *err);

/* ---- reducer_steps.c: with config.mini_batches ---- */

/* Add the gradients of a layer, final in this mini-batch, to r->tree. In a pass that syncs, the
 * layer's gradients become the sum of the step's mini-batches so far; in another, they become
 * +0. */
void ddp_reducer_fold_layer(const ddp_reducer *r, int layer);

/* Fail with DDP_ERR_USAGE if this pass is the last of config.mini_batches and does not sync. */
ddp_status ddp_reducer_check_mini_batch(const ddp_reducer *r, ddp_error *err);

/* ---- reducer_sharded.c: with config.sharded ---- */

/* Open one more sum: for each layer it counts the ranks on which the layer ran. Call after all
 * other sums are opened, and only with config.sharded. Close the sum with
 * ddp_reducer_close_sharded, also after a failure; that waits for the sum if it has started. Fails
 * with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_reducer_open_sharded(ddp_reducer *r, ddp_error *err);
void ddp_reducer_close_sharded(ddp_reducer *r);

/* Start the sum that counts the ranks on which each layer ran, after a wait for the last one. Every
 * rank calls it when all buckets of a pass are launched. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_reducer_count_ranks(ddp_reducer *r, ddp_error *err);

/* Wait for the sum that ddp_reducer_count_ranks has started. *count becomes the number of ranks on
 * which the layer ran. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_reducer_ranks_of(const ddp_reducer *r, int layer, float *count, ddp_error *err);

/* Return 1 if all buckets that were received in this step, and not dropped, hold finite numbers.
 * Else return 0, and *bucket is the index of one that does not. */
int ddp_reducer_received_finite(const ddp_reducer *r, size_t *bucket);

#endif
