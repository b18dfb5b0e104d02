/* Sums and all-gathers of host memory by messages from each rank to each.
 *
 * Each rank sums one slice of a chunk. Slice r of every other rank goes to rank r, which adds them
 * in a fixed tree, ((r0 + r1) + (r2 + r3)) + ... (device/sum.h). A whole sum takes one of two ways
 * (halves of a sum and all-gathers: further below):
 *
 * Cut: the chunk has `size` slices, one for each rank, and each rank sends its sum to all others
 * afterwards. A rank sends 2 (size-1)/size of the chunk's bytes, and receives as many.
 *
 * Whole: on every rank the slice is the whole chunk. A rank sends (size-1) times the chunk's bytes,
 * and no sums afterwards. This way is used for 2 ranks, where the bytes are the same, for small
 * chunks, where bytes do not count, and for chunks too short to give each rank a slice.
 *
 * A chunk uses 2 (size-1) requests. The first half receive the peers' parts of this rank's slice;
 * if the chunk is cut, they send its sum afterwards. The second half send this rank's parts of the
 * peers' slices; if the chunk is cut, they then receive the slices' sums into the same memory. */
#include "base/is_finite.h"
#include "comm/chunk.h"
#include "comm/work.h"
#include "device/sum.h"
#include "device/wire.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Up to this many floats in all are sent whole: one round trip is then dearer than the bytes. */
enum { SMALL_COUNT = 16384, ALIGNMENT = 64 };

/* Return 1 if a chunk of `count` floats is cut: it is not small, and each rank gets a slice. */
static int is_cut(size_t count, int size)
{
    return size > 2 && count * ((size_t)size - 1) > SMALL_COUNT
           && count >= (size_t)size * DDP_WIRE_BLOCK;
}

struct direct_chunk {
    struct ddp_chunk base; /* first: the two pointers are interchangeable */
    int cut;
    int parts_left; /* peers whose part of this rank's slice is missing */
    int requests_left;
    unsigned char *ended; /* for each request, how often it has ended */
    float *scratch;       /* the peers' parts */
    float **addends;      /* room for one pointer a rank */
};

static struct direct_chunk *direct_of(struct ddp_chunk *c)
{
    return (struct direct_chunk *)c;
}

enum { PARTS = 0, SUMS = 1 };

struct slice {
    float *data;
    size_t count;
};

static struct slice slice_of(const struct direct_chunk *c, int rank, int size)
{
    size_t r = (size_t)rank, n = (size_t)size;
    size_t begin = ddp_wire_slice(c->base.count, r, n),
           end = ddp_wire_slice(c->base.count, r + 1, n);

    if (c->base.sum->gathers)
        return (struct slice){ddp_chunk_part_of(&c->base, rank), c->base.count};
    if (!c->cut)
        return (struct slice){c->base.data, c->base.count};
    return (struct slice){c->base.data + begin, end - begin};
}

/* Look whether a slice that has come is finite. A slice of a sum is marked by its first element;
 * of an all-gather all elements must be read. */
static void check_finite(struct direct_chunk *c, struct slice p)
{
    if (!ddp_all_finite(p.data, c->base.sum->gathers ? p.count : p.count > 0))
        c->base.sum->not_finite = 1;
}

/* Where each rank sums a slice, the others learn of one that is not finite by its first element,
 * which then is no number. */
static void sum_slice(const ddp_group *g, struct direct_chunk *c)
{
    struct slice mine = slice_of(c, g->rank, g->size);

    ddp_wire_round(mine.data, mine.count, c->base.sum->wire);
    c->addends[g->rank] = mine.data;
    if (ddp_sum_tree(c->addends, g->size, g->rank, mine.count, c->base.sum->wire))
        return;
    c->base.sum->not_finite = 1;
    if (c->cut && ddp_chunk_phase(&c->base) == DDP_ALLREDUCE)
        mine.data[0] = NAN;
}

/* ---- a sum, cut or whole ---- */

static ddp_status launch_sum(ddp_group *g, struct direct_chunk *c, ddp_error *err)
{
    int peers = g->size - 1;
    struct slice mine;

    c->cut = is_cut(c->base.count, g->size);
    c->parts_left = peers;
    c->requests_left = (c->cut ? 4 : 2) * peers;
    memset(c->ended, 0, (size_t)peers * 2);
    mine = slice_of(c, g->rank, g->size);
    for (int i = 0; i < peers; i++) {
        int peer = ddp_chunk_pipeline_peer(g, i);
        struct slice theirs = slice_of(c, peer, g->size);
        float *part = c->scratch + (size_t)i * mine.count;
        struct ddp_part in = {peer, PARTS, part, mine.count};
        struct ddp_part out = {peer, PARTS, theirs.data, theirs.count};

        c->addends[peer] = part;
        if (ddp_part_recv(g, &c->base, i, &in, err)
            || ddp_part_send(g, &c->base, peers + i, &out, err))
            return err->code;
    }
    return DDP_OK;
}

static ddp_status send_sums(ddp_group *g, struct direct_chunk *c, ddp_error *err)
{
    struct slice mine = slice_of(c, g->rank, g->size);

    for (int i = 0; i < g->size - 1; i++) {
        struct ddp_part sum = {ddp_chunk_pipeline_peer(g, i), SUMS, mine.data, mine.count};

        if (ddp_part_send(g, &c->base, i, &sum, err))
            return err->code;
    }
    return DDP_OK;
}

static ddp_status receive_sum(ddp_group *g, struct direct_chunk *c, int i, ddp_error *err)
{
    int peer = ddp_chunk_pipeline_peer(g, i - (g->size - 1));
    struct slice theirs = slice_of(c, peer, g->size);
    struct ddp_part sum = {peer, SUMS, theirs.data, theirs.count};

    return ddp_part_recv(g, &c->base, i, &sum, err);
}

/* The sum of a peer's slice, of the i-th one. */
static void sum_arrived(const ddp_group *g, struct direct_chunk *c, int i)
{
    check_finite(c, slice_of(c, ddp_chunk_pipeline_peer(g, i), g->size));
}

/* Request i has ended, first or, where it is used again, for the second time. */
static ddp_status advance_cut(ddp_group *g, struct direct_chunk *c, int i, int first,
                              ddp_error *err)
{
    int incoming = i < g->size - 1;

    if (first && !incoming)
        return receive_sum(g, c, i, err);
    if (!first && !incoming)
        sum_arrived(g, c, i - (g->size - 1));
    if (first && c->parts_left == 0) {
        sum_slice(g, c);
        return send_sums(g, c, err);
    }
    return DDP_OK;
}

static ddp_status advance_sum(ddp_group *g, struct direct_chunk *c, int i, ddp_error *err)
{
    int first = c->ended[i] == 1;

    if (first && i < g->size - 1)
        c->parts_left--;
    if (c->cut)
        return advance_cut(g, c, i, first, err);
    if (c->base.ended) /* not before the sends of the same memory have ended */
        sum_slice(g, c);
    return DDP_OK;
}

/* ---- half of a sum, and all-gathers ----
 *
 * A sum in two halves is always cut: its first half ends when a rank has summed its slice, and in
 * its second every rank sends its slice, and receives the others' in the first half of the
 * requests. A chunk of fewer floats than ranks has empty slices, of which no message goes.
 *
 * An all-gather is such a second half, in which each rank's slice is of its part. */

/* Request i of a half: there is none for an empty slice, and so it has ended. */
static ddp_status post(ddp_group *g, struct direct_chunk *c, int i, int incoming,
                       const struct ddp_part *part, ddp_error *err)
{
    c->ended[i] = part->count == 0;
    c->requests_left += part->count > 0;
    if (part->count == 0)
        return DDP_OK;
    return incoming ? ddp_part_recv(g, &c->base, i, part, err)
                    : ddp_part_send(g, &c->base, i, part, err);
}

static ddp_status launch_phase(ddp_group *g, struct direct_chunk *c, ddp_error *err)
{
    int peers = g->size - 1, reduce = ddp_chunk_phase(&c->base) == DDP_REDUCE_SCATTER;
    struct slice mine;

    c->cut = 1;
    c->requests_left = 0;
    mine = slice_of(c, g->rank, g->size);
    c->parts_left = mine.count > 0 ? peers : 0;
    if (!reduce)
        check_finite(c, mine);
    for (int i = 0; i < peers; i++) {
        int peer = ddp_chunk_pipeline_peer(g, i);
        struct slice theirs = slice_of(c, peer, g->size);
        float *part = c->scratch + (size_t)i * mine.count;
        struct ddp_part parts[2] = {{peer, PARTS, part, mine.count},
                                    {peer, PARTS, theirs.data, theirs.count}};
        struct ddp_part sums[2] = {{peer, SUMS, theirs.data, theirs.count},
                                   {peer, SUMS, mine.data, mine.count}};
        struct ddp_part *both = reduce ? parts : sums;

        c->addends[peer] = part;
        if (post(g, c, i, 1, &both[0], err) || post(g, c, peers + i, 0, &both[1], err))
            return err->code;
    }
    return DDP_OK;
}

static void advance_phase(const ddp_group *g, struct direct_chunk *c, int i)
{
    if (i >= g->size - 1)
        return;
    if (ddp_chunk_phase(&c->base) == DDP_ALL_GATHER)
        sum_arrived(g, c, i);
    else if (--c->parts_left == 0)
        sum_slice(g, c);
}

static ddp_range direct_share(const ddp_group *g, size_t count, int i, int *slices)
{
    size_t r = (size_t)g->rank, n = (size_t)g->size;

    (void)i;
    *slices = 1;
    return (ddp_range){ddp_wire_slice(count, r, n), ddp_wire_slice(count, r + 1, n)};
}

/* ---- either: what chunk_pipeline.c calls ---- */

static ddp_status direct_launch(ddp_group *g, struct ddp_chunk *chunk, ddp_error *err)
{
    struct direct_chunk *c = direct_of(chunk);

    return ddp_chunk_phase(chunk) == DDP_ALLREDUCE ? launch_sum(g, c, err)
                                                   : launch_phase(g, c, err);
}

static ddp_status direct_advance(ddp_group *g, struct ddp_chunk *chunk, int i, ddp_error *err)
{
    struct direct_chunk *c = direct_of(chunk);

    c->ended[i]++;
    chunk->ended = --c->requests_left == 0;
    if (ddp_chunk_phase(chunk) == DDP_ALLREDUCE)
        return advance_sum(g, c, i, err);
    advance_phase(g, c, i);
    return DDP_OK;
}

/* ---- who is late ---- */

/* A rank whose first message has not come waits for no other. One whose sum is late may. */
static struct ddp_late_rank direct_late_rank(const ddp_group *g, const struct ddp_chunk *chunk)
{
    const struct direct_chunk *c = (const struct direct_chunk *)chunk;
    int peers = g->size - 1;
    int last = c->cut && ddp_chunk_phase(chunk) == DDP_ALLREDUCE ? 2 : 1;

    for (int i = 0; i < peers; i++)
        if (c->ended[i] == 0)
            return (struct ddp_late_rank){.rank = ddp_chunk_pipeline_peer(g, i), .is_cause = 1};
    for (int i = peers; last == 2 && i < 2 * peers; i++)
        if (c->ended[i] == 1)
            return (struct ddp_late_rank){.rank = ddp_chunk_pipeline_peer(g, i - peers)};
    for (int i = 0; i < 2 * peers; i++)
        if (c->ended[i] < last)
            return (struct ddp_late_rank){.rank = ddp_chunk_pipeline_peer(g, i % peers),
                                          .has_to_take = 1};
    return (struct ddp_late_rank){.rank = -1};
}

/* ---- opening and closing ---- */

struct direct {
    int window;
    struct direct_chunk *chunks;
};

/* Floats of scratch for chunks of up to `count` floats. */
static size_t scratch_for(size_t count, int size)
{
    size_t n = (size_t)size, peers = n - 1;
    size_t cut = peers * (count / n + 2 * DDP_WIRE_BLOCK);
    size_t small = n * DDP_WIRE_BLOCK * peers;
    size_t whole = size == 2 ? count : small > SMALL_COUNT ? small : SMALL_COUNT;

    return cut > whole ? cut : whole;
}

static int open_chunk(const ddp_group *g, struct direct_chunk *c,
                      const struct ddp_chunk_sizes *sizes)
{
    size_t bytes = scratch_for(sizes->count, g->size) * sizeof *c->scratch;

    c->ended = calloc((size_t)sizes->requests, 1);
    c->addends = calloc((size_t)g->size, sizeof *c->addends);
    c->scratch = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    return c->ended && c->addends && c->scratch;
}

static ddp_status direct_open(ddp_group *g, struct ddp_chunk_sizes *sizes, ddp_error *err)
{
    struct direct *d = calloc(1, sizeof *d);
    ddp_chunks chunks = ddp_direct_chunks(g->size);
    int ok;

    *sizes =
        (struct ddp_chunk_sizes){chunks.bytes / sizeof(float), chunks.window, 2 * (g->size - 1)};
    g->algorithm_own = d;
    if (d)
        d->chunks = calloc((size_t)sizes->window, sizeof *d->chunks);
    ok = d && d->chunks;
    if (ok)
        d->window = sizes->window;
    for (int i = 0; ok && i < sizes->window; i++)
        ok = open_chunk(g, &d->chunks[i], sizes);
    return ok ? DDP_OK : ddp_fail(err, DDP_ERR_NOMEM, "no memory for the group's chunks");
}

static void direct_close(ddp_group *g)
{
    struct direct *d = g->algorithm_own;

    if (!d)
        return;
    for (int i = 0; i < d->window; i++) {
        free(d->chunks[i].ended);
        free(d->chunks[i].addends);
        free(d->chunks[i].scratch);
    }
    free(d->chunks);
    free(d);
}

static struct ddp_chunk *direct_chunk(ddp_group *g, int slot)
{
    struct direct *d = g->algorithm_own;

    return &d->chunks[slot].base;
}

const struct ddp_allreduce_algorithm ddp_allreduce_direct = {
    .open = direct_open,
    .close = direct_close,
    .chunk = direct_chunk,
    .launch = direct_launch,
    .advance = direct_advance,
    .share = direct_share,
    .late_rank = direct_late_rank,
};
