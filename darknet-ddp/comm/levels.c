/* Sums within each host in memory that its ranks share, between hosts by messages, by
 * comm/levels_plan.h.
 *
 * Each rank has a slot of shared memory for every chunk in flight, and a board with what the others
 * of its host must know. One chunk on one rank:
 *
 *   GATHERING  it has put its part into its slot and said so on its board; when all of the host
 * have, it sums its lane over them, in place, and sends UP         a stage's parts come, and are
 * summed DOWN       a stage's sums come back SHARING    it has put the sum of its lane into the
 * slots of the others and said so on its board; when all have, the chunk is summed
 *
 * Nothing blocks: boards are looked at when messages are polled. A slot is used again for chunk n +
 * window once its rank has said that it launched that, and so needs no guard of its own. */
#include "base/finite.h"
#include "comm/chunk.h"
#include "comm/shared_memory.h"
#include "device/sum.h"
#include "device/wire.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_WINDOW = 16,
    IN_FLIGHT_BYTES = 8 << 20,
    SHORTEST_CHUNK_BYTES = 512 * 1024,
    PIECE_BYTES = 64 * 1024, /* of a rank, in a chunk that is larger for many ranks' sake */
    LONGEST_CHUNK_BYTES = 4 << 20,
    HOST_IN_FLIGHT_BYTES = 4 << 20, /* where there is one host */
    LINE = 64                       /* bytes; no two ranks write to the same */
};

/* What a rank tells the others of its host; it alone writes it. */
struct board {
    _Alignas(LINE) atomic_uint launched; /* chunks that are in its slots, by sequence: how many */
    _Alignas(LINE)
        atomic_uint shared[MOST_WINDOW]; /* by slot: 2 (sequence + 1), 1 more where not finite */
    uint32_t counts[MOST_WINDOW];        /* by slot: the chunk's length */
};

enum state { GATHERING, UP, DOWN, SHARING };

/* A message under way, for the names in errors. */
struct request {
    int peer;
    char incoming, pending;
};

struct levels_chunk {
    struct ddp_chunk base; /* first: the two pointers are interchangeable */
    enum state state;
    int stage;
    int seen;    /* ranks of the host that are known to have launched it, or shared their lane */
    int waiting; /* messages of this stage that have not ended */
    int posted;  /* of them and those that have */
    int not_finite;
    struct request *requests;
    float ***held;   /* by stage: for each part held, and node of its ranks, the sum there */
    float **in;      /* by transfer: where its parts come to */
    float **scratch; /* by stage */
};

struct levels {
    struct ddp_levels_plan *plan;
    struct ddp_shared_memory *memory;
    int window, requests;
    size_t chunk_count;
    struct levels_chunk *chunks;
    float **parts; /* room for one pointer a rank; all NULL between uses */
};

static struct levels *levels_of(const ddp_group *g)
{
    return g->way_own;
}

static struct levels_chunk *chunk_of(struct ddp_chunk *c)
{
    return (struct levels_chunk *)c;
}

static struct board *board_of(const ddp_group *g, int local_rank)
{
    return ddp_shared_memory_of(levels_of(g)->memory, local_rank);
}

/* Where a rank of this host has the chunk. */
static float *slot_of(const ddp_group *g, const struct levels_chunk *c, int local_rank)
{
    const struct levels *l = levels_of(g);
    char *memory = ddp_shared_memory_of(l->memory, local_rank);

    return (float *)(void *)(memory + sizeof(struct board)) + (size_t)c->base.slot * l->chunk_count;
}

static int first_local(const ddp_group *g)
{
    return g->rank - g->local_rank;
}

/* ---- opening ---- */

static size_t longest(const struct levels *l, struct ddp_span units)
{
    return l->chunk_count * (size_t)(units.end - units.begin) / (size_t)l->plan->units + 1;
}

static int nodes_of(const ddp_group *g, struct ddp_span ranks)
{
    int firsts[DDP_SUM_NODES_MAX];

    return ddp_sum_nodes(g->size, ranks.begin, ranks.end, firsts);
}

/* Floats that come in a stage. */
static size_t incoming_count(const ddp_group *g, const struct ddp_stage *stage)
{
    size_t count = 0;

    for (int t = 0; t < stage->transfer_count; t++)
        if (stage->transfers[t].incoming)
            count += longest(levels_of(g), stage->transfers[t].units)
                     * (size_t)nodes_of(g, stage->transfers[t].ranks);
    return count;
}

/* Messages of a stage, on the way up: on the way down there are no more. */
static int stage_messages(const ddp_group *g, const struct ddp_stage *stage)
{
    int messages = 0;

    for (int t = 0; t < stage->transfer_count; t++)
        messages += nodes_of(g, stage->transfers[t].ranks);
    return messages;
}

static void choose_sizes(const ddp_group *g, struct ddp_chunk_sizes *sizes)
{
    int alone = g->places.count == 1;
    size_t bytes = alone ? SHORTEST_CHUNK_BYTES : (size_t)g->size * PIECE_BYTES;

    if (bytes < SHORTEST_CHUNK_BYTES)
        bytes = SHORTEST_CHUNK_BYTES;
    if (bytes > LONGEST_CHUNK_BYTES)
        bytes = LONGEST_CHUNK_BYTES;
    sizes->count = bytes / sizeof(float);
    sizes->window = (int)((alone ? HOST_IN_FLIGHT_BYTES : IN_FLIGHT_BYTES) / bytes);
    if (sizes->window < 4)
        sizes->window = 4;
}

static int open_stage(const ddp_group *g, struct levels_chunk *c, int s)
{
    const struct ddp_stage *stage = &levels_of(g)->plan->stage[s];
    size_t nodes = (size_t)nodes_of(g, stage->ranks);

    c->held[s] = calloc((size_t)stage->held_count * nodes + 1, sizeof **c->held);
    c->scratch[s] = malloc((incoming_count(g, stage) + 1) * sizeof **c->scratch);
    return c->held[s] && c->scratch[s];
}

static int open_chunk(const ddp_group *g, struct levels_chunk *c)
{
    const struct levels *l = levels_of(g);
    size_t stages = (size_t)l->plan->stages + 1;
    int transfers = 0, ok;

    for (int s = 0; s < l->plan->stages; s++)
        if (transfers < l->plan->stage[s].transfer_count)
            transfers = l->plan->stage[s].transfer_count;
    c->requests = calloc((size_t)l->requests + 1, sizeof *c->requests);
    c->held = calloc(stages, sizeof *c->held);
    c->scratch = calloc(stages, sizeof *c->scratch);
    c->in = calloc((size_t)transfers + 1, sizeof *c->in);
    ok = c->requests && c->held && c->scratch && c->in;
    for (size_t s = 0; ok && s < stages; s++)
        ok = open_stage(g, c, (int)s);
    return ok;
}

static ddp_status open_chunks(ddp_group *g, const struct ddp_chunk_sizes *sizes, ddp_error *err)
{
    struct levels *l = levels_of(g);
    int ok;

    l->parts = calloc((size_t)g->size, sizeof *l->parts);
    l->chunks = calloc((size_t)sizes->window, sizeof *l->chunks);
    ok = l->parts && l->chunks;
    if (ok)
        l->window = sizes->window;
    for (int i = 0; ok && i < l->window; i++)
        ok = open_chunk(g, &l->chunks[i]);
    return ok ? DDP_OK : ddp_fail(err, DDP_ERR_NOMEM, "no memory for the group's chunks");
}

static ddp_status share_memory(ddp_group *g, const struct ddp_chunk_sizes *sizes, ddp_error *err)
{
    size_t bytes = sizeof(struct board) + (size_t)sizes->window * sizes->count * sizeof(float);

    return ddp_shared_memory_open(&levels_of(g)->memory, g, bytes, err);
}

static ddp_status levels_open(ddp_group *g, struct ddp_chunk_sizes *sizes, ddp_error *err)
{
    struct levels *l = calloc(1, sizeof *l);

    g->way_own = l;
    if (!l)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the group's chunks");
    choose_sizes(g, sizes);
    l->chunk_count = sizes->count;
    if (ddp_levels_plan_open(&l->plan, &g->places, g->rank, g->radix, err))
        return err->code;
    for (int s = 0; s < l->plan->stages; s++)
        if (l->requests < stage_messages(g, &l->plan->stage[s]))
            l->requests = stage_messages(g, &l->plan->stage[s]);
    sizes->requests = l->requests;
    return open_chunks(g, sizes, err) ? err->code : share_memory(g, sizes, err);
}

static void close_chunk(const struct levels *l, struct levels_chunk *c)
{
    for (int s = 0; s <= l->plan->stages; s++) {
        if (c->held)
            free(c->held[s]);
        if (c->scratch)
            free(c->scratch[s]);
    }
    free(c->held);
    free(c->scratch);
    free(c->in);
    free(c->requests);
}

static void levels_close(ddp_group *g)
{
    struct levels *l = levels_of(g);

    if (!l)
        return;
    for (int i = 0; i < l->window; i++)
        close_chunk(l, &l->chunks[i]);
    ddp_shared_memory_close(l->memory);
    ddp_levels_plan_close(l->plan);
    free(l->chunks);
    free(l->parts);
    free(l);
}

static struct ddp_chunk *levels_chunk(ddp_group *g, int slot)
{
    return &levels_of(g)->chunks[slot].base;
}

/* ---- messages ---- */

static ddp_status post(ddp_group *g, struct levels_chunk *c, int phase, int incoming, int peer,
                       float *data, size_t count, ddp_error *err)
{
    const struct ddp_part part = {peer, phase, data, count};
    int i = c->posted++;

    c->requests[i] = (struct request){peer, (char)incoming, 1};
    c->waiting++;
    return incoming ? ddp_exchange_recv_part(g, &c->base, i, &part, err)
                    : ddp_exchange_send_part(g, &c->base, i, &part, err);
}

struct piece {
    size_t begin, count;
};

static struct piece piece_of(const ddp_group *g, const struct levels_chunk *c,
                             struct ddp_span units)
{
    const struct ddp_levels_plan *plan = levels_of(g)->plan;
    size_t begin = ddp_unit_begin(plan, c->base.count, units.begin);

    return (struct piece){begin, ddp_unit_begin(plan, c->base.count, units.end) - begin};
}

static const struct ddp_stage *stage_of(const ddp_group *g, const struct levels_chunk *c)
{
    return &levels_of(g)->plan->stage[c->stage];
}

/* A stage's parts come, on the way up. */
static ddp_status receive_parts(ddp_group *g, struct levels_chunk *c, ddp_error *err)
{
    const struct ddp_stage *stage = stage_of(g, c);
    float *at = c->scratch[c->stage];

    for (int t = 0; t < stage->transfer_count; t++) {
        const struct ddp_transfer *transfer = &stage->transfers[t];
        struct piece piece = piece_of(g, c, transfer->units);
        int nodes = transfer->incoming && piece.count ? nodes_of(g, transfer->ranks) : 0;

        c->in[t] = at;
        for (int k = 0; k < nodes; k++, at += piece.count)
            if (post(g, c, 0, 1, transfer->peer, at, piece.count, err))
                return err->code;
    }
    return DDP_OK;
}

static ddp_status send_parts(ddp_group *g, struct levels_chunk *c, ddp_error *err)
{
    const struct ddp_stage *stage = stage_of(g, c);
    int nodes = nodes_of(g, stage->ranks);

    for (int t = 0; t < stage->transfer_count; t++) {
        const struct ddp_transfer *transfer = &stage->transfers[t];
        struct piece piece = piece_of(g, c, transfer->units);
        size_t within = piece.begin - piece_of(g, c, stage->held[transfer->held]).begin;

        for (int k = 0; k < nodes && !transfer->incoming && piece.count; k++)
            if (post(g, c, 0, 0, transfer->peer,
                     c->held[c->stage][transfer->held * nodes + k] + within, piece.count, err))
                return err->code;
    }
    return DDP_OK;
}

/* Others learn of a sum that is not finite by the first element of what they get, which then is no
 * number. */
static void mark_not_finite(const ddp_group *g, const struct levels_chunk *c)
{
    const struct ddp_stage *stage = stage_of(g, c);

    for (int t = 0; t < stage->transfer_count; t++) {
        struct piece piece = piece_of(g, c, stage->transfers[t].units);

        if (stage->transfers[t].incoming && piece.count)
            slot_of(g, c, g->local_rank)[piece.begin] = NAN;
    }
}

/* A stage's sums go back where its parts came from. */
static ddp_status return_sums(ddp_group *g, struct levels_chunk *c, ddp_error *err)
{
    const struct ddp_stage *stage = stage_of(g, c);

    if (c->not_finite)
        mark_not_finite(g, c);
    for (int t = 0; t < stage->transfer_count; t++) {
        const struct ddp_transfer *transfer = &stage->transfers[t];
        struct piece piece = piece_of(g, c, transfer->units);

        if (piece.count
            && post(g, c, 1, !transfer->incoming, transfer->peer,
                    slot_of(g, c, g->local_rank) + piece.begin, piece.count, err))
            return err->code;
    }
    return DDP_OK;
}

static void look_at_returned(const ddp_group *g, struct levels_chunk *c)
{
    const struct ddp_stage *stage = stage_of(g, c);

    for (int t = 0; t < stage->transfer_count; t++) {
        struct piece piece = piece_of(g, c, stage->transfers[t].units);

        if (!stage->transfers[t].incoming
            && !ddp_all_finite(slot_of(g, c, g->local_rank) + piece.begin, piece.count > 0))
            c->not_finite = 1;
    }
}

/* ---- sums ---- */

/* The node of ranks that this rank is in, by its first rank. */
static int own_node(const ddp_group *g, struct ddp_span ranks)
{
    int firsts[DDP_SUM_NODES_MAX];
    int n = ddp_sum_nodes(g->size, ranks.begin, ranks.end, firsts), own = 0;

    for (int k = 0; k < n; k++)
        if (firsts[k] <= g->rank)
            own = firsts[k];
    return own;
}

/* parts[] of ranks are there: sum them, and remember where in held[0..]. `own` is the part in
 * this rank's slot. */
static void sum_parts(const ddp_group *g, struct levels_chunk *c, struct ddp_span ranks, int own,
                      size_t count, float **held)
{
    float **parts = levels_of(g)->parts;
    int firsts[DDP_SUM_NODES_MAX];
    int n = ddp_sum_nodes(g->size, ranks.begin, ranks.end, firsts);
    int node = own_node(g, ranks);

    if (!ddp_sum_range(parts, g->size, ranks.begin, ranks.end, own, count, c->base.sum->wire))
        c->not_finite = 1;
    for (int k = 0; k < n; k++)
        held[k] = parts[firsts[k] == node ? own : firsts[k]];
    memset(parts + ranks.begin, 0, (size_t)(ranks.end - ranks.begin) * sizeof(float *));
}

/* All of the host have launched it: this rank's lane, over them. */
static void sum_lane(const ddp_group *g, struct levels_chunk *c)
{
    const struct ddp_stage *stage = &levels_of(g)->plan->stage[0];
    int nodes = nodes_of(g, stage->ranks);

    for (int i = 0; i < stage->held_count; i++) {
        struct piece piece = piece_of(g, c, stage->held[i]);

        for (int r = 0; r < g->local_size; r++)
            levels_of(g)->parts[stage->ranks.begin + r] = slot_of(g, c, r) + piece.begin;
        sum_parts(g, c, stage->ranks, g->rank, piece.count, &c->held[0][i * nodes]);
    }
}

static void place_nodes(const ddp_group *g, struct ddp_span ranks, float *const *at)
{
    int firsts[DDP_SUM_NODES_MAX];
    int n = ddp_sum_nodes(g->size, ranks.begin, ranks.end, firsts);

    for (int k = 0; k < n; k++)
        levels_of(g)->parts[firsts[k]] = at[k];
}

/* A stage's parts have come: what stays with this rank, over all that the stage brings together. */
static void sum_stage(const ddp_group *g, struct levels_chunk *c)
{
    const struct ddp_stage *stage = stage_of(g, c), *next = stage + 1;
    int nodes = nodes_of(g, stage->ranks), next_nodes = nodes_of(g, next->ranks), t = 0;

    for (int i = 0; i < next->held_count; i++) {
        struct piece piece = piece_of(g, c, next->held[i]);
        size_t within = piece.begin - piece_of(g, c, stage->held[next->from[i]]).begin;
        float *at[DDP_SUM_NODES_MAX];

        for (int k = 0; k < nodes; k++)
            at[k] = c->held[c->stage][next->from[i] * nodes + k] + within;
        place_nodes(g, stage->ranks, at);
        for (; t < stage->transfer_count
               && (!stage->transfers[t].incoming || stage->transfers[t].held <= i);
             t++) {
            if (!stage->transfers[t].incoming)
                continue;
            for (int k = 0; k < nodes_of(g, stage->transfers[t].ranks); k++)
                at[k] = c->in[t] + (size_t)k * piece.count;
            place_nodes(g, stage->transfers[t].ranks, at);
        }
        sum_parts(g, c, next->ranks, own_node(g, stage->ranks), piece.count,
                  &c->held[c->stage + 1][i * next_nodes]);
    }
}

/* The lane is summed over all ranks: the others of the host get it. */
static void share_lane(const ddp_group *g, struct levels_chunk *c)
{
    const struct ddp_stage *stage = &levels_of(g)->plan->stage[0];

    for (int i = 0; i < stage->held_count; i++) {
        struct piece piece = piece_of(g, c, stage->held[i]);
        const float *sum = slot_of(g, c, g->local_rank) + piece.begin;

        for (int k = 1; k < g->local_size; k++) {
            int r = (g->local_rank + k) % g->local_size; /* not all write to the same one */

            memcpy(slot_of(g, c, r) + piece.begin, sum, piece.count * sizeof *sum);
        }
    }
    atomic_store_explicit(&board_of(g, g->local_rank)->shared[c->base.slot],
                          2 * (c->base.sequence + 1) + (unsigned)c->not_finite,
                          memory_order_release);
}

/* ---- from state to state ---- */

/* Nothing of this stage is waited for any more: go on to where something is. */
static ddp_status go_on(ddp_group *g, struct levels_chunk *c, ddp_error *err)
{
    int stages = levels_of(g)->plan->stages;

    while (c->waiting == 0 && c->state != SHARING) {
        c->posted = 0;
        if (c->state == UP && c->stage < stages) {
            sum_stage(g, c);
            c->stage++;
            if (c->stage < stages && (receive_parts(g, c, err) || send_parts(g, c, err)))
                return err->code;
            continue;
        }
        if (c->state == DOWN)
            look_at_returned(g, c);
        c->state = DOWN;
        if (--c->stage >= 0) {
            if (return_sums(g, c, err))
                return err->code;
            continue;
        }
        share_lane(g, c);
        c->state = SHARING;
        c->seen = 0;
    }
    return DDP_OK;
}

static ddp_status levels_launch(ddp_group *g, struct ddp_chunk *chunk, ddp_error *err)
{
    struct board *board = board_of(g, g->local_rank);
    struct levels_chunk *c = chunk_of(chunk);

    c->state = GATHERING;
    c->stage = c->seen = c->waiting = c->posted = c->not_finite = 0;
    memcpy(slot_of(g, c, g->local_rank), chunk->data, chunk->count * sizeof *chunk->data);
    ddp_wire_round(slot_of(g, c, g->local_rank), chunk->count, chunk->sum->wire);
    board->counts[chunk->slot] = (uint32_t)chunk->count;
    atomic_store_explicit(&board->launched, chunk->sequence + 1, memory_order_release);
    /* Early, so that nothing comes that has no place. */
    return levels_of(g)->plan->stages ? receive_parts(g, c, err) : DDP_OK;
}

/* Has a rank of this host launched a chunk of the same length? */
static ddp_status has_launched(const ddp_group *g, const struct levels_chunk *c, int local_rank,
                               int *yes, ddp_error *err)
{
    struct board *board = board_of(g, local_rank);
    uint32_t launched = atomic_load_explicit(&board->launched, memory_order_acquire);

    *yes = (int32_t)(launched - (c->base.sequence + 1)) >= 0;
    if (*yes && board->counts[c->base.slot] != c->base.count)
        return ddp_fail(err, DDP_ERR_COMM, "rank %d sums %zu bytes where %zu are due",
                        first_local(g) + local_rank, board->counts[c->base.slot] * sizeof(float),
                        c->base.count * sizeof(float));
    return DDP_OK;
}

static ddp_status gather(ddp_group *g, struct levels_chunk *c, int *moved, ddp_error *err)
{
    int yes = 1;

    while (c->seen < g->local_size) {
        if (has_launched(g, c, c->seen, &yes, err))
            return err->code;
        if (!yes)
            return DDP_OK;
        c->seen++;
    }
    *moved = 1;
    sum_lane(g, c);
    c->state = UP;
    if (levels_of(g)->plan->stages && send_parts(g, c, err))
        return err->code;
    return go_on(g, c, err);
}

/* Has a rank of this host shared its lane, and was that finite? */
static int has_shared(const ddp_group *g, struct levels_chunk *c, int local_rank)
{
    uint32_t shared =
        atomic_load_explicit(&board_of(g, local_rank)->shared[c->base.slot], memory_order_acquire);

    if (shared / 2 != (c->base.sequence + 1) % (UINT32_MAX / 2 + 1))
        return 0;
    c->not_finite |= (int)(shared % 2);
    return 1;
}

static void take_shared(const ddp_group *g, struct levels_chunk *c, int *moved)
{
    struct ddp_chunk *chunk = &c->base;

    while (c->seen < g->local_size && has_shared(g, c, c->seen))
        c->seen++;
    if (c->seen < g->local_size)
        return;
    memcpy(chunk->data, slot_of(g, c, g->local_rank), chunk->count * sizeof *chunk->data);
    chunk->sum->not_finite |= c->not_finite;
    chunk->ended = 1;
    *moved = 1;
}

static ddp_status levels_look(ddp_group *g, struct ddp_chunk *chunk, int *moved, ddp_error *err)
{
    struct levels_chunk *c = chunk_of(chunk);

    if (c->state == GATHERING && gather(g, c, moved, err))
        return err->code;
    if (c->state == SHARING)
        take_shared(g, c, moved);
    return DDP_OK;
}

static ddp_status levels_advance(ddp_group *g, struct ddp_chunk *chunk, int i, ddp_error *err)
{
    struct levels_chunk *c = chunk_of(chunk);

    c->requests[i].pending = 0;
    c->waiting--;
    return c->state == GATHERING ? DDP_OK : go_on(g, c, err);
}

/* ---- who is late ---- */

static int levels_behind(const ddp_group *g, const struct ddp_chunk *chunk)
{
    const struct levels_chunk *c = (const struct levels_chunk *)chunk;

    return c->state == GATHERING ? first_local(g) + c->seen : -1;
}

static int levels_waits_for(const ddp_group *g, const struct ddp_chunk *chunk, int *taking)
{
    const struct levels_chunk *c = (const struct levels_chunk *)chunk;

    *taking = 0;
    if (c->state == GATHERING || c->state == SHARING)
        return first_local(g) + c->seen;
    for (int i = 0; i < c->posted; i++)
        if (c->requests[i].pending && c->requests[i].incoming)
            return c->requests[i].peer;
    *taking = 1;
    for (int i = 0; i < c->posted; i++)
        if (c->requests[i].pending)
            return c->requests[i].peer;
    return -1;
}

const struct ddp_way ddp_way_levels = {
    .open = levels_open,
    .close = levels_close,
    .chunk = levels_chunk,
    .launch = levels_launch,
    .advance = levels_advance,
    .look = levels_look,
    .behind = levels_behind,
    .waits_for = levels_waits_for,
};
