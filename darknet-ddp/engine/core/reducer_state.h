/* core/reducer_state.h: the struct and the functions that the reducer's own files share; not for
 * others. reducer.c is the way of a gradient. Beside it: reducer_open.c (memory), reducer_order.c
 * (pieces and their order), reducer_unused.c (layers that did not run), reducer_steps.c (what a
 * step asks: finite, done, backlog) and reducer_halves.c. Functions fail with DDP_ERR_COMM where no
 * error is named. */
#ifndef DDP_CORE_REDUCER_STATE_H
#define DDP_CORE_REDUCER_STATE_H

#include "comm/work.h"
#include "core/launch_order.h"
#include "core/reducer.h"
#include "core/rounds.h"
#include "core/tree_sum.h"

/* The memory of one sum: a bucket, or with config.piece_bytes a piece of a large one. */
typedef struct ddp_piece {
    size_t bucket;
    size_t offset, count; /* elements; the offset is from the start of the plan's memory */
} ddp_piece;

struct ddp_reducer {
    ddp_group *group;
    const ddp_param_table *table;
    ddp_reducer_config config;
    ddp_bucket_plan *plan;
    float *memory; /* all buckets, one after the other: plan->count floats on the table's device */
    size_t *first_param; /* by layer, and one more: the layer's parameters are
                            table->params[first_param[l]] to [first_param[l + 1] - 1] */
    size_t piece_count;
    ddp_piece *pieces;      /* all pieces, in the plan's order */
    ddp_work **sums;        /* by piece: the sum over ranks of its memory, in place */
    ddp_launch_order order; /* order in which pieces are launched in this pass */

    /* Members of the pass that has begun: */
    int sync;        /* 1: the pass sums over ranks; 0: gradients add up in place */
    char *ready;     /* by layer: 1 if its gradients are final in this pass */
    size_t *pending; /* by bucket: how many parameters are not ready */
    size_t limit;    /* most pieces that may be launched so far */
    size_t launched; /* how many pieces were launched, in launch order */
    size_t landed;   /* how many of the launched pieces have been fenced */

    ddp_reducer_times total;

    /* ---- lists that open makes, and members of single features ---- */

    float **framework_memory; /* by parameter: the framework's own gradient memory; NULL: frozen */
    size_t *piece_counts;     /* elements of each piece */
    size_t *first_piece; /* by bucket, and one more: the bucket's pieces are pieces[first_piece[b]]
                            to [first_piece[b + 1] - 1] */

    /* With config.sum and several ranks: the sums of what the plug makes of buckets; else NULL. */
    ddp_rounds *plugged;
    int is_plugged;     /* 1: the next pass sums what the plug makes */
    ddp_rounds *rounds; /* `plugged` if this pass sums what the plug makes; NULL: it uses sums[] */

    /* Members for layers that did not run: */
    float *counts;  /* run counts (core/bucket_plan.h) of one bucket, on the host */
    char *ran;      /* by layer: 1 if it ran on this rank since the last step */
    char *dropped;  /* by layer: 1 if it was dropped in each pass since the last syncing one */
    int frozen;     /* layers below this one run on no rank (ddp_reducer_freeze_layers) */
    int mini_batch; /* mini-batches that have ended since the last syncing one */

    /* Members that are used only with config.halves: */
    float *ran_ranks;  /* by layer: on how many ranks it ran; before the sum, whether it ran here */
    ddp_work *ran_sum; /* the sum of ran_ranks over ranks */
    int ran_started;   /* 1: ran_sum was started at least once */
    size_t sent;       /* how many buckets of this step had their second half started */
    size_t received;   /* how many of the `sent` second halves have been waited for */

    /* Member that is used only with config.mini_batches: */
    ddp_tree_sum *tree; /* sums mini-batches in a tree (core/tree_sum.h); NULL: in place */

    /* Members that are used only with config.priority: */
    size_t early; /* how many elements' sums are to be launched while backward runs, from the next
                     syncing pass on; the others wait for its end */
    ddp_launch_history history; /* how the last steps went; ddp_launch_order_adapt uses it */
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

/* Return the last sum of a piece in this pass; with a plug, of its bucket. */
static inline ddp_work *ddp_reducer_last_sum(const ddp_reducer *r, size_t piece)
{
    return r->rounds ? ddp_rounds_last(r->rounds, piece) : r->sums[piece];
}

/* Return the index of the piece that has the bucket's run counts: its last one. */
static inline size_t ddp_reducer_last_piece(const ddp_reducer *r, size_t b)
{
    return r->first_piece[b + 1] - 1;
}

/* ---- reducer.c: gradients in buckets' memory, and back, values included ---- */

/* Copy the gradients of all trained layers to bucket memory, and point the framework's pointers
 * there. */
void ddp_reducer_take_gradients(ddp_reducer *r);
/* Copy the gradients back to the framework's memory, and point the framework's pointers there.
 * First adds to them the sums that r->tree keeps aside. */
void ddp_reducer_return_gradients(ddp_reducer *r);

/* ---- reducer_order.c: pieces, and in which order they go ---- */

/* Cut the plan's buckets into pieces, in r. ddp_reducer_close_pieces frees them, also after a
 * failure. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_reducer_open_pieces(ddp_reducer *r, ddp_error *err);
void ddp_reducer_close_pieces(ddp_reducer *r);

/* Choose a syncing pass's late pieces by r->early. Does nothing without config.priority. */
void ddp_reducer_begin_order(ddp_reducer *r);

/* Return the place in the launch order, from 0, of the last piece that holds gradients of this
 * layer. Where the layer did not run on this rank, the piece of its run counts counts, too. */
size_t ddp_reducer_last_launch(const ddp_reducer *r, int layer);

/* Return 1 if all layers of bucket b are dropped, so that it is not sent. */
int ddp_reducer_is_bucket_dropped(const ddp_reducer *r, size_t b);

/* Put the layers and the number of bucket b before err's text, and return err's code. The number
 * counts from 1, as the group's sums do. */
ddp_status ddp_reducer_wrap_error(const ddp_reducer *r, size_t b, ddp_error *err);

/* ---- reducer_unused.c: layers that did not run ---- */

/* Write the run counts of this rank into bucket b, which is about to leave: 1 for a parameter whose
 * layer ran here, else 0. Does nothing with one rank or config.halves. */
void ddp_reducer_write_counts(ddp_reducer *r, size_t b);

/* Fail with DDP_ERR_USAGE, which names the layer, unless layers may be unused (find_unused) or this
 * one is known to run nowhere. Called at the end of a pass for a layer that did not run. */
ddp_status ddp_reducer_check_unused(const ddp_reducer *r, int layer, ddp_error *err);

/* Set *used to 1 if the layer ran on any rank and must be updated, else 0. Forgets whether it ran
 * here. Call after the fences of its sums. Waits for its run count only if it did not run here. */
ddp_status ddp_reducer_was_used(ddp_reducer *r, int layer, int *used, ddp_error *err);

/* ---- reducer_steps.c: with r->tree ---- */

/* Add the gradients of a layer, final in this mini-batch, to r->tree. If the step syncs before its
 * last mini-batch, write the sum of its mini-batches so far to the gradients instead. */
void ddp_reducer_fold_layer(const ddp_reducer *r, int layer);

/* Fail with DDP_ERR_USAGE if this pass is the last of config.mini_batches and does not sync. */
ddp_status ddp_reducer_check_mini_batch(const ddp_reducer *r, ddp_error *err);

/* ---- reducer_halves.c: where r->config.halves ---- */

/* Open the sum of how many ranks ran each layer. Call when the reducer's other sums are open. Close
 * it, also after a failure: ddp_reducer_close_halves waits for the sum if it has started, and frees
 * it. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_reducer_open_halves(ddp_reducer *r, ddp_error *err);
void ddp_reducer_close_halves(ddp_reducer *r);

/* Start the sum that tells on how many ranks each layer ran. Every rank calls it, when all buckets
 * of a pass are launched. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_reducer_count_ranks(ddp_reducer *r, ddp_error *err);

/* Wait for the sum that ddp_reducer_count_ranks has started. *count becomes the number of ranks on
 * which the layer ran. */
ddp_status ddp_reducer_ranks_of(const ddp_reducer *r, int layer, float *count, ddp_error *err);

/* Return 1 if the buckets that were received in this step are finite. Else 0, and *bucket is the
 * index of the first that is not. */
int ddp_reducer_received_finite(const ddp_reducer *r, size_t *bucket);

#endif
