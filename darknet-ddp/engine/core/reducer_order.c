#include "comm/work.h"
#include "core/reducer_state.h"

#include <stdlib.h>

/* ---- pieces ---- */

/* The most elements of a piece. A bucket's pieces are as even as their alignment lets them be. */
static size_t most_of_piece(const ddp_reducer *r)
{
    size_t most = r->config.piece_bytes / sizeof(float) / DDP_PLAN_ALIGN * DDP_PLAN_ALIGN;

    return r->config.piece_bytes && most == 0 ? DDP_PLAN_ALIGN : most;
}

/* Run counts stay together, in the last piece. */
static size_t gradients_of(const ddp_bucket *bucket)
{
    return bucket->counts - bucket->offset;
}

static size_t pieces_of(const ddp_bucket *bucket, size_t most)
{
    return most ? (gradients_of(bucket) + most - 1) / most : 1;
}

/* The element of the bucket that piece i of n begins with. */
static size_t begin_of(const ddp_bucket *bucket, size_t i, size_t n)
{
    return gradients_of(bucket) / DDP_PLAN_ALIGN * i / n * DDP_PLAN_ALIGN;
}

static void cut(ddp_reducer *r, size_t b, size_t most)
{
    const ddp_bucket *bucket = &r->plan->buckets[b];
    size_t n = pieces_of(bucket, most), first = r->first_piece[b];

    for (size_t i = 0; i < n; i++) {
        size_t begin = begin_of(bucket, i, n);
        size_t end = i + 1 < n ? begin_of(bucket, i + 1, n) : bucket->count;

        r->pieces[first + i] =
            (ddp_piece){.bucket = b, .offset = bucket->offset + begin, .count = end - begin};
        r->piece_counts[first + i] = end - begin;
    }
    r->first_piece[b + 1] = first + n;
}

ddp_status ddp_reducer_open_pieces(ddp_reducer *r, ddp_error *err)
{
    size_t most = most_of_piece(r), buckets = r->plan->bucket_count;

    for (size_t b = 0; b < buckets; b++)
        r->piece_count += pieces_of(&r->plan->buckets[b], most);
    r->pieces = calloc(r->piece_count + 1, sizeof *r->pieces);
    r->piece_counts = calloc(r->piece_count + 1, sizeof *r->piece_counts);
    r->first_piece = calloc(buckets + 1, sizeof *r->first_piece);
    if (!r->pieces || !r->piece_counts || !r->first_piece)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu sums", r->piece_count);
    for (size_t b = 0; b < buckets; b++)
        cut(r, b, most);
    r->order = (ddp_launch_order){
        .sums = r->piece_count,
        .deferred = r->first_piece[ddp_launch_order_deferred(r->plan, r->config.defer_bytes)]};
    r->early = r->plan->count;
    return DDP_OK;
}

void ddp_reducer_close_pieces(ddp_reducer *r)
{
    free(r->pieces);
    free(r->piece_counts);
    free(r->first_piece);
}

size_t ddp_reducer_piece_count(const ddp_reducer *r)
{
    return r->piece_count;
}

const ddp_work *ddp_reducer_sum(const ddp_reducer *r, size_t piece, size_t *bucket)
{
    *bucket = r->pieces[piece].bucket;
    return ddp_reducer_is_bucket_dropped(r, *bucket) ? NULL : ddp_reducer_last_sum(r, piece);
}

/* ---- their order ---- */

void ddp_reducer_begin_order(ddp_reducer *r)
{
    if (r->config.priority)
        ddp_launch_order_limit(&r->order, r->piece_counts, r->early);
}

void ddp_reducer_adapt_order(ddp_reducer *r, size_t backlog)
{
    size_t all = 0, early = 0;

    for (size_t i = r->order.deferred; i < r->piece_count; i++) {
        all += r->piece_counts[i];
        if (i + r->order.late < r->piece_count)
            early = all;
    }
    r->early = ddp_launch_order_adapt(&r->history, all, early, backlog);
}

static size_t later(const ddp_reducer *r, size_t last, size_t piece)
{
    size_t number = ddp_launch_order_place(r->order, piece);

    return last < number ? number : last;
}

size_t ddp_reducer_last_launch(const ddp_reducer *r, int layer)
{
    size_t last = 0;

    for (size_t i = r->first_param[layer]; i < r->first_param[layer + 1]; i++) {
        const ddp_place *place = &r->plan->places[i];
        size_t end = place->offset + r->table->params[i].count;

        for (size_t p = r->first_piece[place->bucket]; p < r->first_piece[place->bucket + 1]; p++)
            if (r->pieces[p].offset < end
                && place->offset < r->pieces[p].offset + r->pieces[p].count)
                last = later(r, last, p);
        if (!r->ran[layer])
            last = later(r, last, ddp_reducer_last_piece(r, place->bucket));
    }
    return last;
}

int ddp_reducer_is_deferred(const ddp_reducer *r, int layer)
{
    return ddp_reducer_trains(r, layer)
           && ddp_reducer_last_launch(r, layer) >= ddp_launch_order_early(r->order);
}

/* ---- what is known of a bucket ---- */

int ddp_reducer_is_bucket_dropped(const ddp_reducer *r, size_t b)
{
    const ddp_bucket *bucket = &r->plan->buckets[b];

    for (int layer = bucket->first_layer; layer <= bucket->last_layer; layer++)
        if (ddp_reducer_trains(r, layer) && !r->dropped[layer])
            return 0;
    return 1;
}

ddp_status ddp_reducer_wrap_error(const ddp_reducer *r, size_t b, ddp_error *err)
{
    const ddp_bucket *bucket = &r->plan->buckets[b];

    return ddp_wrap(err, "gradients of layers %d to %d (bucket %zu of %zu)", bucket->first_layer,
                    bucket->last_layer, b + 1, r->plan->bucket_count);
}
