/* Sums of host memory on two levels: within a host in memory that its ranks share, between hosts by
 * messages. The plan of comm/hierarchical_plan.h says which rank sends what.
 *
 * A chunk is summed where it lies if its memory is shared by the ranks of the host
 * (host_memory.h). A chunk that lies elsewhere is copied to a slot of shared memory and back; each
 * rank has a slot for every chunk in flight. Each rank also has a board in shared memory, with what
 * the other ranks of its host must know. On one rank a chunk goes through these states:
 *
 *   MEETING    The chunk is where the other ranks of the host can read it, and the board says so.
 *              When all of the host have launched it, this rank sums its lane of it, in place, and
 *              sends.
 *   REDUCING   Slices of a stage come from other hosts, and are added.
 *   RETURNING  Sums of a stage come back.
 *   SHARING    This rank has written its lane's sum to where the others have the chunk, and said so
 *              on its board. When all have, the chunk is summed.
 *
 * A sum may be made in two halves (ddp_work_phase). The reduce-scatter goes from REDUCING straight
 * to SHARING: this rank writes no sum to the others' memory, and its board only says that it has
 * read that. The all-gather goes from MEETING to RETURNING.
 *
 * An all-gather of ddp_allgather_open goes from MEETING, where it may not write to the others'
 * memory yet, to GATHERING, where it waits for its messages with other hosts
 * (hierarchical_gather.c), and then to SHARING.
 *
 * Nothing blocks: boards are looked at when messages are polled. A rank uses its memory again when
 * all ranks of its host have shared their lanes of it. When a slot gets its next chunk, the others
 * use it only after its rank's board says that the rank launched that chunk. So a slot needs no
 * other guard. */
#include "base/is_finite.h"
#include "comm/hierarchical_state.h"
#include "comm/host_memory.h"
#include "comm/work.h"
#include "device/wire.h"

#include <string.h>

static struct ddp_hierarchical_chunk *chunk_of(struct ddp_chunk *c)
{
    return (struct ddp_hierarchical_chunk *)c;
}

static int first_local(const ddp_group *g)
{
    return g->rank - g->local_rank;
}

static int in_place(const ddp_group *g, const struct ddp_hierarchical_chunk *c)
{
    return ddp_hierarchical_own(g, c) == c->base.data;
}

static struct ddp_chunk *hierarchical_chunk(ddp_group *g, int slot)
{
    return &ddp_hierarchical_of(g)->chunks[slot].base;
}

/* ---- from state to state ---- */

/* Return the slices that this rank sums last, over all ranks. */
static const struct ddp_stage *top_of(const ddp_group *g)
{
    const struct ddp_hierarchical_plan *plan = ddp_hierarchical_of(g)->plan;

    return &plan->stage[plan->stages];
}

/* Copy the slices that this rank sums last from its slot, or to it. */
static void copy_own_slices(const ddp_group *g, struct ddp_hierarchical_chunk *c, int to_slot)
{
    float *own = ddp_hierarchical_own(g, c);

    for (int i = 0; i < top_of(g)->held_count; i++) {
        struct ddp_slice slice = ddp_hierarchical_slice_of(g, c, top_of(g)->held[i]);
        float *in_slot = own + slice.begin, *in_sum = c->base.data + slice.begin;

        if (to_slot && !ddp_all_finite(in_sum, slice.count > 0))
            c->not_finite = 1;
        if (!in_place(g, c))
            memcpy(to_slot ? in_slot : in_sum, to_slot ? in_sum : in_slot,
                   slice.count * sizeof *own);
    }
}

/* Tell the host that this rank has done with the others' memory. */
static void say_shared(const ddp_group *g, const struct ddp_hierarchical_chunk *c)
{
    atomic_store_explicit(&ddp_hierarchical_board(g, g->local_rank)->shared[c->base.slot],
                          2 * (c->base.sequence + 1) + (unsigned)c->not_finite,
                          memory_order_release);
}

/* Give the others of the host this rank's lane, summed over all ranks. */
static void share_lane(const ddp_group *g, struct ddp_hierarchical_chunk *c)
{
    const struct ddp_stage *stage = &ddp_hierarchical_of(g)->plan->stage[0];

    for (int i = 0; i < stage->held_count; i++) {
        struct ddp_slice slice = ddp_hierarchical_slice_of(g, c, stage->held[i]);
        const float *sum = ddp_hierarchical_own(g, c) + slice.begin;

        for (int k = 1; k < g->local_size; k++) {
            int r = (g->local_rank + k) % g->local_size; /* not all write to the same one */

            memcpy(c->at[r] + slice.begin, sum, slice.count * sizeof *sum);
        }
    }
}

static void begin_sharing(const ddp_group *g, struct ddp_hierarchical_chunk *c)
{
    if (c->base.sum->gathers)
        ddp_hierarchical_gather_share(g, c);
    else if (ddp_chunk_phase(&c->base) == DDP_REDUCE_SCATTER)
        copy_own_slices(g, c, 0);
    else
        share_lane(g, c);
    say_shared(g, c);
    c->state = DDP_HIERARCHICAL_SHARING;
    c->ranks_seen = 0;
}

/* Post an all-gather's next messages, which need not wait for the others of the host; share when
 * all have ended. */
static ddp_status advance_gather(ddp_group *g, struct ddp_hierarchical_chunk *c, ddp_error *err)
{
    while (c->messages_left == 0 && !ddp_hierarchical_gather_posted_all(g, c))
        if (ddp_hierarchical_gather_post(g, c, err))
            return err->code;
    if (c->messages_left == 0 && c->state == DDP_HIERARCHICAL_GATHERING)
        begin_sharing(g, c);
    return DDP_OK;
}

/* Go through the stages, up and back, until a message must be waited for. */
static ddp_status advance_sum(ddp_group *g, struct ddp_hierarchical_chunk *c, ddp_error *err)
{
    int stages = ddp_hierarchical_of(g)->plan->stages;

    while (c->messages_left == 0 && c->state != DDP_HIERARCHICAL_SHARING) {
        c->messages_posted = 0;
        if (c->state == DDP_HIERARCHICAL_REDUCING && c->stage < stages) {
            ddp_hierarchical_sum_stage(g, c);
            c->stage++;
            if (c->stage < stages
                && (ddp_hierarchical_receive_slices(g, c, err)
                    || ddp_hierarchical_send_slices(g, c, err)))
                return err->code;
            continue;
        }
        if (c->state == DDP_HIERARCHICAL_RETURNING)
            ddp_hierarchical_check_returned(g, c);
        c->state = DDP_HIERARCHICAL_RETURNING;
        if (ddp_chunk_phase(&c->base) != DDP_REDUCE_SCATTER && --c->stage >= 0) {
            if (ddp_hierarchical_return_sums(g, c, err))
                return err->code;
            continue;
        }
        begin_sharing(g, c);
    }
    return DDP_OK;
}

/* Return where a rank of this host has the chunk, by its board. NULL: it is not known here. */
static float *chunk_at(const ddp_group *g, const struct ddp_hierarchical_chunk *c, int local_rank)
{
    const struct ddp_board *board = ddp_hierarchical_board(g, local_rank);
    uint64_t place = board->places[c->base.slot];
    float *slots = (float *)(void *)((char *)board + sizeof *board);

    return place ? ddp_host_memory_at(g, local_rank, place)
                 : slots + (size_t)c->base.slot * ddp_hierarchical_of(g)->chunk_count;
}

/* Put the chunk where the others of the host can sum it. */
static void lay_out(const ddp_group *g, struct ddp_hierarchical_chunk *c)
{
    float *own = ddp_hierarchical_own(g, c);

    if (c->base.sum->gathers) {
        ddp_hierarchical_gather_check_own(g, c);
        return;
    }
    if (ddp_chunk_phase(&c->base) == DDP_ALL_GATHER) {
        copy_own_slices(g, c, 1);
        return;
    }
    if (!in_place(g, c))
        memcpy(own, c->base.data, c->base.count * sizeof *own);
    ddp_wire_round(own, c->base.count, c->base.sum->wire);
}

/* Elements from the chunk's first to its last. */
static size_t extent(const ddp_group *g, const struct ddp_chunk *c)
{
    return c->sum->gathers ? ((size_t)g->size - 1) * c->sum->count + c->count : c->count;
}

static ddp_status hierarchical_launch(ddp_group *g, struct ddp_chunk *chunk, ddp_error *err)
{
    struct ddp_board *board = ddp_hierarchical_board(g, g->local_rank);
    struct ddp_hierarchical_chunk *c = chunk_of(chunk);

    c->state = DDP_HIERARCHICAL_MEETING;
    c->stage = c->hosts_posted = c->ranks_seen = c->messages_left = c->messages_posted =
        c->not_finite = 0;
    board->counts[chunk->slot] = (uint32_t)chunk->count;
    board->places[chunk->slot] =
        ddp_host_memory_place(g, chunk->data, extent(g, chunk) * sizeof *chunk->data);
    c->at[g->local_rank] = chunk_at(g, c, g->local_rank);
    lay_out(g, c);
    atomic_store_explicit(&board->launched, chunk->sequence + 1, memory_order_release);
    if (chunk->sum->gathers)
        return advance_gather(g, c, err);
    /* Early, so that nothing comes that has no place. */
    return ddp_hierarchical_of(g)->plan->stages && ddp_chunk_phase(chunk) != DDP_ALL_GATHER
               ? ddp_hierarchical_receive_slices(g, c, err)
               : DDP_OK;
}

/* Has a rank of this host launched a chunk of the same length? Then c->at says where it is. */
static ddp_status has_launched(const ddp_group *g, struct ddp_hierarchical_chunk *c, int local_rank,
                               int *yes, ddp_error *err)
{
    const struct ddp_board *board = ddp_hierarchical_board(g, local_rank);
    uint32_t launched = atomic_load_explicit(&board->launched, memory_order_acquire);

    *yes = (int32_t)(launched - (c->base.sequence + 1)) >= 0;
    if (!*yes)
        return DDP_OK;
    if (board->counts[c->base.slot] != c->base.count)
        return ddp_fail(err, DDP_ERR_COMM, "rank %d sums %zu bytes where %zu are due",
                        first_local(g) + local_rank, board->counts[c->base.slot] * sizeof(float),
                        c->base.count * sizeof(float));
    c->at[local_rank] = chunk_at(g, c, local_rank);
    if (!c->at[local_rank])
        return ddp_fail(err, DDP_ERR_COMM, "rank %d sums memory that rank %d does not know",
                        first_local(g) + local_rank, g->rank);
    return DDP_OK;
}

static ddp_status begin_when_all_launched(ddp_group *g, struct ddp_hierarchical_chunk *c,
                                          int *moved, ddp_error *err)
{
    int yes = 1;

    while (c->ranks_seen < g->local_size) {
        if (has_launched(g, c, c->ranks_seen, &yes, err))
            return err->code;
        if (!yes)
            return DDP_OK;
        c->ranks_seen++;
    }
    *moved = 1;
    if (c->base.sum->gathers) {
        c->state = DDP_HIERARCHICAL_GATHERING;
        return advance_gather(g, c, err);
    }
    if (ddp_chunk_phase(&c->base) == DDP_ALL_GATHER) {
        c->state = DDP_HIERARCHICAL_RETURNING;
        c->stage = ddp_hierarchical_of(g)->plan->stages;
        return advance_sum(g, c, err);
    }
    ddp_hierarchical_sum_lane(g, c);
    c->state = DDP_HIERARCHICAL_REDUCING;
    if (ddp_hierarchical_of(g)->plan->stages && ddp_hierarchical_send_slices(g, c, err))
        return err->code;
    return advance_sum(g, c, err);
}

/* Has a rank of this host shared its lane, and was that finite? */
static int has_shared(const ddp_group *g, struct ddp_hierarchical_chunk *c, int local_rank)
{
    uint32_t shared = atomic_load_explicit(
        &ddp_hierarchical_board(g, local_rank)->shared[c->base.slot], memory_order_acquire);

    if (shared / 2 != (c->base.sequence + 1) % (UINT32_MAX / 2 + 1))
        return 0;
    c->not_finite |= (int)(shared % 2);
    return 1;
}

static void end_when_all_shared(const ddp_group *g, struct ddp_hierarchical_chunk *c, int *moved)
{
    struct ddp_chunk *chunk = &c->base;

    while (c->ranks_seen < g->local_size && has_shared(g, c, c->ranks_seen))
        c->ranks_seen++;
    if (c->ranks_seen < g->local_size)
        return;
    if (chunk->sum->gathers)
        ddp_hierarchical_gather_copy_shared(g, c);
    else if (ddp_chunk_phase(chunk) != DDP_REDUCE_SCATTER && !in_place(g, c))
        memcpy(chunk->data, ddp_hierarchical_own(g, c), chunk->count * sizeof *chunk->data);
    chunk->sum->not_finite |= c->not_finite;
    chunk->ended = 1;
    *moved = 1;
}

static ddp_status hierarchical_poll(ddp_group *g, struct ddp_chunk *chunk, int *moved,
                                    ddp_error *err)
{
    struct ddp_hierarchical_chunk *c = chunk_of(chunk);

    if (c->state == DDP_HIERARCHICAL_MEETING && begin_when_all_launched(g, c, moved, err))
        return err->code;
    if (c->state == DDP_HIERARCHICAL_SHARING)
        end_when_all_shared(g, c, moved);
    return DDP_OK;
}

static ddp_status hierarchical_advance(ddp_group *g, struct ddp_chunk *chunk, int i, ddp_error *err)
{
    struct ddp_hierarchical_chunk *c = chunk_of(chunk);

    c->requests[i].pending = 0;
    c->messages_left--;
    if (chunk->sum->gathers)
        return advance_gather(g, c, err);
    return c->state == DDP_HIERARCHICAL_MEETING ? DDP_OK : advance_sum(g, c, err);
}

static ddp_range hierarchical_share(const ddp_group *g, size_t count, int i, int *slices)
{
    const struct ddp_stage *top = top_of(g);
    const struct ddp_hierarchical_plan *plan = ddp_hierarchical_of(g)->plan;
    struct ddp_slice slice;

    *slices = top->held_count;
    if (top->held_count == 0)
        return (ddp_range){0, 0};
    slice = ddp_hierarchical_plan_slice(plan, count, top->held[i]);
    return (ddp_range){slice.begin, slice.begin + slice.count};
}

/* ---- who is late ---- */

static struct ddp_late_rank hierarchical_late_rank(const ddp_group *g,
                                                   const struct ddp_chunk *chunk)
{
    const struct ddp_hierarchical_chunk *c = (const struct ddp_hierarchical_chunk *)chunk;
    int is_meeting = c->state == DDP_HIERARCHICAL_MEETING;

    if (is_meeting || c->state == DDP_HIERARCHICAL_SHARING)
        return (struct ddp_late_rank){.rank = first_local(g) + c->ranks_seen,
                                      .is_cause = is_meeting};
    for (int i = 0; i < c->messages_posted; i++)
        if (c->requests[i].pending && c->requests[i].incoming)
            return (struct ddp_late_rank){.rank = c->requests[i].peer};
    for (int i = 0; i < c->messages_posted; i++)
        if (c->requests[i].pending)
            return (struct ddp_late_rank){.rank = c->requests[i].peer, .has_to_take = 1};
    return (struct ddp_late_rank){.rank = -1};
}

const struct ddp_allreduce_algorithm ddp_allreduce_hierarchical = {
    .open = ddp_hierarchical_open,
    .close = ddp_hierarchical_close,
    .chunk = hierarchical_chunk,
    .launch = hierarchical_launch,
    .advance = hierarchical_advance,
    .look = hierarchical_poll,
    .share = hierarchical_share,
    .late_rank = hierarchical_late_rank,
};
