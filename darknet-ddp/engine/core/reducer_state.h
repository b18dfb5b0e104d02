/* core/reducer_state.h: what the reducer's own files share. reducer.c is the way of a gradient.
 * Beside it: reducer_open.c (memory), reducer_order.c (pieces and their order), reducer_unused.c
 * (layers that did not run), reducer_steps.c (what a step asks besides) and reducer_halves.c. Not
 * for others. */
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
    size_t offset, count; /* elements, the offset from the start of the plan's memory */
} ddp_piece;

struct ddp_reducer {
    ddp_group *group;
    const ddp_param_table *table;
    ddp_reducer_config config;
    ddp_bucket_plan *plan;
    float *memory;       /* plan->count elements of the table's device: all buckets, one after the
                            other */
    size_t *first_param; /* per layer, and one more: table->params[first[l] .. first[l + 1]) */
    size_t piece_count;
    ddp_piece *pieces;      /* in the plan's order */
    ddp_work **sums;        /* by piece: the sum over ranks of its memory, in place */
    ddp_launch_order order; /* in which pieces go in this pass */

    /* A pass. */
    int sync;        /* it sums over ranks; else gradients add up in place */
    char *ready;     /* per layer: its gradients are final */
    size_t *pending; /* per bucket: parameters that are not */
    size_t limit;    /* how many pieces may be launched by now */
    size_t launched; /* pieces whose sum has started, in launch order */
    size_t landed;   /* how many of these have been waited for */

    ddp_reducer_times total;

    /* ---- beside the way ---- */

    float **framework_memory; /* per parameter: the framework's own gradient memory */
    size_t *piece_counts;     /* elements of each piece */
    size_t *first_piece;      /* per bucket, and one more: pieces[first[b] .. first[b + 1]) */

    /* With config.sum: sums of what it makes of buckets; NULL: there is none. */
    ddp_rounds *plugged;
    int is_plugged;     /* the next pass goes by them */
    ddp_rounds *rounds; /* this one does; NULL: it goes by sums[] */

    /* Layers that did not run. */
    float *counts; /* room for a bucket's run counts */
    char *ran;     /* per layer: on this rank since the last step */
    char *dropped; /* per layer: in each pass since the last syncing one before this */
    int frozen;    /* layers below it run on no rank in this pass */

    /* With config.halves. */
    float *ran_ranks; /* per layer: on how many ranks it ran; here, before they are summed */
    ddp_work *ran_sum;
    int ran_started; /* that sum, once or more often */
    size_t sent;     /* buckets of this step whose second half was started */
    size_t received; /* how many of these have been waited for */

    /* With config.mini_batches. */
    ddp_tree_sum *tree; /* NULL: mini-batches add up in place */
    int mini_batch;     /* how many of the step have ended, since the last syncing one */

    /* With config.priority. */
    size_t early;               /* elements that go early from the next syncing pass on */
    ddp_launch_history history; /* that `early` follows from */
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

/* Return the last sum that a piece has. */
static inline ddp_work *ddp_reducer_last_sum(const ddp_reducer *r, size_t piece)
{
    return r->rounds ? ddp_rounds_last(r->rounds, piece) : r->sums[piece];
}

/* Return the piece with the bucket's run counts. */
static inline size_t ddp_reducer_last_piece(const ddp_reducer *r, size_t b)
{
    return r->first_piece[b + 1] - 1;
}

/* ---- reducer.c: gradients in buckets' memory, and back, values included ---- */

void ddp_reducer_take_gradients(ddp_reducer *r);
void ddp_reducer_return_gradients(ddp_reducer *r);

/* ---- reducer_order.c: pieces, and in which order they go ---- */

/* Cut the plan's buckets into pieces. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_reducer_open_pieces(ddp_reducer *r, ddp_error *err);
void ddp_reducer_close_pieces(ddp_reducer *r);

/* Begin a syncing pass, in the order that was planned meanwhile. */
void ddp_reducer_begin_order(ddp_reducer *r);

/* Return the place in the launch order of the last piece that has something of this layer. A layer
 * that did not run here also wants its run counts. */
size_t ddp_reducer_last_launch(const ddp_reducer *r, int layer);

/* Return 1 if all layers of bucket b are dropped, so that nothing of it is sent. */
int ddp_reducer_is_bucket_dropped(const ddp_reducer *r, size_t b);

/* Put the layers of bucket b before err's text, and return err's code. Buckets count from 1 there,
 * as the group's sums do. */
ddp_status ddp_reducer_wrap_error(const ddp_reducer *r, size_t b, ddp_error *err);

/* ---- reducer_unused.c: layers that did not run ---- */

/* Write into bucket b, which is about to leave, which of its layers ran here. */
void ddp_reducer_write_counts(ddp_reducer *r, size_t b);

/* At the end of a pass: fail for a layer that did not run, unless that is allowed. */
ddp_status ddp_reducer_check_unused(const ddp_reducer *r, int layer, ddp_error *err);

/* When the layer's sums are there: *used becomes 1 if it ran on some rank. Waits only if it did not
 * run here. */
ddp_status ddp_reducer_was_used(ddp_reducer *r, int layer, int *used, ddp_error *err);

/* ---- reducer_steps.c: with r->tree ---- */

/* Fold a layer's gradients of this mini-batch, which are final. */
void ddp_reducer_fold_layer(const ddp_reducer *r, int layer);

/* Fail with DDP_ERR_USAGE if this is a step's last mini-batch and does not sync. */
ddp_status ddp_reducer_check_mini_batch(const ddp_reducer *r, ddp_error *err);

/* ---- reducer_halves.c: where r->config.halves ---- */

/* Open what config.halves adds to a reducer whose sums are open. */
ddp_status ddp_reducer_open_halves(ddp_reducer *r, ddp_error *err);
void ddp_reducer_close_halves(ddp_reducer *r);

/* When all buckets of a syncing pass are launched: start to sum on how many ranks layers ran. */
ddp_status ddp_reducer_count_ranks(ddp_reducer *r, ddp_error *err);

/* Wait until it is known on how many ranks the layer ran. */
ddp_status ddp_reducer_ranks_of(const ddp_reducer *r, int layer, float *count, ddp_error *err);

/* Return 1 if the buckets that have been received are finite; else *bucket is the first that is
 * not.
 */
int ddp_reducer_received_finite(const ddp_reducer *r, size_t *bucket);

#endif
