/* Messages by which a root rank hands out moments, and rank 0 asks for them (core/sharded.h).
 *
 * In ddp_sharded_open every rank tells rank 0 which elements of moments it has. To ask, rank 0
 * broadcasts a request. If the request names a block of a moment, the others send their elements of
 * this block to rank 0. Nobody answers before rank 0 asks, so at most one block is on its way. */
#include "core/sharded.h"

#include "comm/collectives.h"
#include "comm/work.h"

#include <stdlib.h>
#include <string.h>

/* Elements begin to end of a parameter, which some rank has. */
typedef struct place {
    size_t param, begin, end;
} place;

struct ddp_sharded {
    ddp_sharded_config config;
    float *block; /* DDP_SHARDED_BLOCK floats, on the host */
    /* On rank 0, of every rank: */
    place *places;       /* rank by rank, each one's by parameter */
    size_t *first_place; /* one entry more than ranks: places[first[r] .. first[r + 1]) */
    size_t *bytes;       /* that are to be gathered */
};

static ddp_device *device_of(const ddp_sharded *s)
{
    return s->config.table->device;
}

static size_t range_count(const ddp_sharded *s)
{
    return s->config.first_range[s->config.table->param_count];
}

static int moments_of(const ddp_sharded *s, size_t i)
{
    return ddp_moments_trained(s->config.table, &s->config.table->params[i]);
}

enum kind { END, BLOCK, FINITE };

struct request {
    enum kind kind;
    ddp_sharded_block block; /* of BLOCK */
};

/* ---- who has what ---- */

static ddp_status no_memory(ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_NOMEM, "no memory for what ranks have of the optimizer's state");
}

/* On rank 0: how much each tells. */
static ddp_status make_room(ddp_sharded *s, const size_t *counts, ddp_error *err)
{
    size_t ranks = (size_t)ddp_group_size(s->config.group);

    s->first_place = calloc(ranks + 1, sizeof *s->first_place);
    s->bytes = calloc(ranks, sizeof *s->bytes);
    if (!s->first_place || !s->bytes)
        return no_memory(err);
    for (size_t r = 0; r < ranks; r++) {
        s->first_place[r + 1] = s->first_place[r] + counts[r];
        s->bytes[r] = counts[r] * sizeof *s->places;
    }
    s->places = calloc(s->first_place[ranks] + 1, sizeof *s->places);
    return s->places ? DDP_OK : no_memory(err);
}

static ddp_status tell_places(ddp_sharded *s, ddp_error *err)
{
    const size_t count = range_count(s), bytes = count * sizeof *s->places;
    size_t *counts = ddp_allgather_new(s->config.group, &count, sizeof count, err);
    int is_first = ddp_group_rank(s->config.group) == 0;
    ddp_status st;

    if (!counts)
        return err->code;
    if (is_first)
        st = make_room(s, counts, err);
    else
        st = (s->places = calloc(count + 1, sizeof *s->places)) ? DDP_OK : no_memory(err);
    free(counts);
    for (size_t p = 0; p < count && !st; p++)
        s->places[p] =
            (place){s->config.ranges[p].param, s->config.ranges[p].begin, s->config.ranges[p].end};
    return st ? st : ddp_gather(s->config.group, s->places, is_first ? s->bytes : &bytes, 0, err);
}

ddp_status ddp_sharded_open(ddp_sharded **out, const ddp_sharded_config *config, ddp_error *err)
{
    ddp_sharded *s = calloc(1, sizeof *s);

    *out = NULL;
    if (!s)
        return no_memory(err);
    s->config = *config;
    s->block = malloc(DDP_SHARDED_BLOCK * sizeof *s->block);
    if (!s->block)
        (void)no_memory(err);
    if (!s->block || tell_places(s, err)) {
        ddp_sharded_close(s);
        return err->code;
    }
    *out = s;
    return DDP_OK;
}

void ddp_sharded_close(ddp_sharded *s)
{
    if (!s)
        return;
    free(s->block);
    free(s->places);
    free(s->first_place);
    free(s->bytes);
    free(s);
}

/* ---- when a run begins ---- */

/* x[0..count) of moment k of parameter i are there, from element `at` on. */
static void keep_own(const ddp_sharded *s, size_t i, int k, const float *x, size_t at, size_t count)
{
    for (size_t p = s->config.first_range[i]; p < s->config.first_range[i + 1]; p++) {
        const ddp_sharded_range *range = &s->config.ranges[p];
        size_t begin = range->begin > at ? range->begin : at;
        size_t end = range->end < at + count ? range->end : at + count;

        if (begin < end)
            ddp_device_push(device_of(s), range->moments[k] + (begin - range->begin),
                            x + (begin - at), end - begin);
    }
}

static ddp_status hand_out(const ddp_sharded *s, size_t i, int k, int root,
                           const ddp_sharded_source *source, ddp_error *err)
{
    const ddp_param *param = &s->config.table->params[i];
    float *block = s->block;

    for (size_t at = 0; at < param->count; at += DDP_SHARDED_BLOCK) {
        size_t left = param->count - at;
        size_t count = left < DDP_SHARDED_BLOCK ? left : DDP_SHARDED_BLOCK;

        if (ddp_group_rank(s->config.group) == root
            && source->read(source->ctx, &(ddp_sharded_block){i, k, at, count}, block, err))
            return err->code;
        if (ddp_broadcast(s->config.group, block, count * sizeof *block, root, err))
            return ddp_wrap(err, "%s of layer %d (%s) %s", param->optimizer.name[k], param->layer,
                            param->kind, param->part);
        keep_own(s, i, k, block, at, count);
    }
    return DDP_OK;
}

ddp_status ddp_sharded_hand_out_moments(const ddp_sharded *s, int root,
                                        const ddp_sharded_source *source, ddp_error *err)
{
    ddp_status st = DDP_OK;

    for (size_t i = 0; i < s->config.table->param_count && !st; i++)
        for (int k = 0; k < moments_of(s, i) && !st; k++)
            st = hand_out(s, i, k, root, source, err);
    return st;
}

/* ---- what a block has of a part ---- */

/* Return which of the block's elements are elements begin to end of the parameter, counted from the
 * block's start; none where begin is not below end. */
static ddp_range overlap(const ddp_sharded_block *b, size_t begin, size_t end)
{
    ddp_range r = {begin > b->at ? begin - b->at : 0, end > b->at ? end - b->at : 0};

    if (r.end > b->count)
        r.end = b->count;
    return r;
}

/* On rank 0: the first place of a rank's that is of this parameter, or of a later one. */
static size_t first_of(const ddp_sharded *s, int rank, size_t param)
{
    size_t low = s->first_place[rank], high = s->first_place[rank + 1];

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->places[middle].param < param)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- a block ---- */

/* Copy this rank's elements of a block to x: each range to its place in the block or, packed, one
 * behind the other. Returns how many they are. */
static size_t copy_own(const ddp_sharded *s, const ddp_sharded_block *b, float *x, int packed)
{
    size_t count = 0;

    for (size_t p = s->config.first_range[b->param]; p < s->config.first_range[b->param + 1]; p++) {
        const ddp_sharded_range *range = &s->config.ranges[p];
        ddp_range r = overlap(b, range->begin, range->end);

        if (r.begin >= r.end)
            continue;
        ddp_device_pull(device_of(s), x + (packed ? count : r.begin),
                        range->moments[b->moment] + (b->at + r.begin - range->begin),
                        r.end - r.begin);
        count += r.end - r.begin;
    }
    return count;
}

/* On rank 0: what another rank has of a block, from `packed` to its places in x, unless that is
 * NULL. Returns how much it is. */
static size_t unpack(const ddp_sharded *s, const ddp_sharded_block *b, int rank,
                     const float *packed, float *x)
{
    size_t count = 0;

    for (size_t p = first_of(s, rank, b->param);
         p < s->first_place[rank + 1] && s->places[p].param == b->param; p++) {
        ddp_range r = overlap(b, s->places[p].begin, s->places[p].end);

        if (r.begin >= r.end)
            continue;
        if (x)
            memcpy(x + r.begin, packed + count, (r.end - r.begin) * sizeof *x);
        count += r.end - r.begin;
    }
    return count;
}

static ddp_status ask(const ddp_sharded *s, struct request request, ddp_error *err)
{
    if (ddp_broadcast(s->config.group, &request, sizeof request, 0, err))
        return ddp_wrap(err, "the optimizer's state");
    return DDP_OK;
}

ddp_status ddp_sharded_ask_block(ddp_sharded *s, const ddp_sharded_block *block, float *x,
                                 ddp_error *err)
{
    int ranks = ddp_group_size(s->config.group);
    const float *at = s->block;

    if (ask(s, (struct request){BLOCK, *block}, err))
        return err->code;
    (void)copy_own(s, block, x, 0);
    s->bytes[0] = 0;
    for (int rank = 1; rank < ranks; rank++)
        s->bytes[rank] = unpack(s, block, rank, NULL, NULL) * sizeof *x;
    if (ddp_gather(s->config.group, s->block, s->bytes, 0, err))
        return ddp_wrap(err, "the optimizer's state");
    for (int rank = 1; rank < ranks; rank++)
        at += unpack(s, block, rank, at, x);
    return DDP_OK;
}

static ddp_status answer(const ddp_sharded *s, const ddp_sharded_block *b, ddp_error *err)
{
    size_t bytes = copy_own(s, b, s->block, 1) * sizeof *s->block;

    return ddp_gather(s->config.group, s->block, &bytes, 0, err);
}

/* ---- what is not finite ---- */

/* The first, as parameter * DDP_OPTIMIZER_BUFFERS + moment, that this rank has; UINT64_MAX: none.
 */
static ddp_status look(const ddp_sharded *s, uint64_t *first, ddp_error *err)
{
    *first = UINT64_MAX;
    for (size_t p = 0; p < range_count(s); p++) {
        const ddp_sharded_range *range = &s->config.ranges[p];

        for (int k = 0; k < DDP_OPTIMIZER_BUFFERS && range->moments[k]; k++) {
            uint64_t key = range->param * DDP_OPTIMIZER_BUFFERS + (uint64_t)k;
            int finite;

            if (ddp_device_check_finite(device_of(s), range->moments[k], range->end - range->begin,
                                        &finite, err))
                return err->code;
            if (!finite && key < *first)
                *first = key;
        }
    }
    return DDP_OK;
}

ddp_status ddp_sharded_ask_finite(ddp_sharded *s, int *finite, ddp_sharded_block *first,
                                  ddp_error *err)
{
    int ranks = ddp_group_size(s->config.group);
    uint64_t *found = calloc((size_t)ranks, sizeof *found), least = UINT64_MAX;
    ddp_status st = found ? look(s, found, err) : no_memory(err); /* before anyone waits for this */

    for (int rank = 0; rank < ranks; rank++)
        s->bytes[rank] = sizeof *found;
    if (!st)
        st = ask(s, (struct request){.kind = FINITE}, err);
    if (!st && ddp_gather(s->config.group, found, s->bytes, 0, err))
        st = ddp_wrap(err, "the optimizer's state");
    for (int rank = 0; rank < ranks && !st; rank++)
        least = found[rank] < least ? found[rank] : least;
    free(found);
    *finite = least == UINT64_MAX;
    *first = (ddp_sharded_block){.param = (size_t)least / DDP_OPTIMIZER_BUFFERS,
                                 .moment = (int)(least % DDP_OPTIMIZER_BUFFERS)};
    return st;
}

static ddp_status answer_finite(const ddp_sharded *s, ddp_error *err)
{
    uint64_t first;
    const size_t bytes = sizeof first;

    if (look(s, &first, err))
        return err->code;
    return ddp_gather(s->config.group, &first, &bytes, 0, err);
}

/* ---- the others ---- */

ddp_status ddp_sharded_ask_end(const ddp_sharded *s, ddp_error *err)
{
    return ask(s, (struct request){.kind = END}, err);
}

ddp_status ddp_sharded_serve_blocks(const ddp_sharded *s, ddp_error *err)
{
    struct request request = {.kind = END};
    ddp_status st;

    do {
        st = ddp_broadcast(s->config.group, &request, sizeof request, 0, err);
        if (!st && request.kind == BLOCK)
            st = answer(s, &request.block, err);
        else if (!st && request.kind == FINITE)
            st = answer_finite(s, err);
    } while (!st && request.kind != END);
    return st ? ddp_wrap(err, "the optimizer's state") : DDP_OK;
}
