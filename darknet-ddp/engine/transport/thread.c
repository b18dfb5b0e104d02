/* The backend of tests: ranks that are threads of one process. A message is copied straight from
 * the sender's memory when the receiver asks, so that a sanitizer sees a buffer that is touched too
 * early. One lock guards everything: this backend is there to be right, not fast. */
#include "comm/backend.h"
#include "comm/chunk_pipeline.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 64 };

enum state { UNUSED = 0, SENDING, RECEIVING, ENDED };

struct request {
    enum state state;
    uint64_t order; /* of posting, in the world */
    struct ddp_message message;
};

struct rank_requests {
    struct request *requests;
    int count;
};

struct world {
    pthread_mutex_t lock;
    int size;
    int open_groups;
    uint64_t posted;
    int abort_status; /* 0: nobody has aborted */
    int abort_rank;
    struct rank_requests *ranks;
};

static struct world *world_of(const ddp_group *g)
{
    return g->own;
}

static void lock(struct world *w)
{
    (void)pthread_mutex_lock(&w->lock);
}

static void unlock(struct world *w)
{
    (void)pthread_mutex_unlock(&w->lock);
}

static ddp_status thread_reserve(ddp_group *g, int requests, ddp_error *err)
{
    struct world *w = world_of(g);
    struct rank_requests *mine = &w->ranks[g->rank];
    struct request *more;

    lock(w);
    more = realloc(mine->requests, ((size_t)requests + 1) * sizeof *more);
    if (more) {
        mine->requests = more;
        for (int i = mine->count; i < requests; i++)
            more[i].state = UNUSED;
        mine->count = requests;
    }
    unlock(w);
    return more ? DDP_OK : ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d requests", requests);
}

static void post(ddp_group *g, int request, const struct ddp_message *m, enum state state)
{
    struct world *w = world_of(g);

    lock(w);
    w->ranks[g->rank].requests[request] = (struct request){state, w->posted++, *m};
    unlock(w);
}

static ddp_status thread_send(ddp_group *g, int request, const struct ddp_message *m,
                              ddp_error *err)
{
    (void)err;
    post(g, request, m, SENDING);
    return DDP_OK;
}

static ddp_status thread_recv(ddp_group *g, int request, const struct ddp_message *m,
                              ddp_error *err)
{
    (void)err;
    post(g, request, m, RECEIVING);
    return DDP_OK;
}

/* Return the request that was posted first among those in this state with this peer and with m's
 * tag and channel; NULL: there is none. */
static struct request *oldest(struct rank_requests *r, enum state state, int peer,
                              const struct ddp_message *m)
{
    struct request *found = NULL;

    for (int i = 0; i < r->count; i++) {
        struct request *q = &r->requests[i];

        if (q->state == state && q->message.peer == peer && q->message.tag == m->tag
            && q->message.channel == m->channel && (!found || q->order < found->order))
            found = q;
    }
    return found;
}

static ddp_status take_message(ddp_group *g, struct request *in, ddp_error *err)
{
    struct world *w = world_of(g);
    const struct ddp_message *to = &in->message;
    struct request *out;

    if (in != oldest(&w->ranks[g->rank], RECEIVING, to->peer, to))
        return DDP_OK;
    out = oldest(&w->ranks[to->peer], SENDING, g->rank, to);
    if (!out)
        return DDP_OK;
    if (out->message.bytes != to->bytes)
        return ddp_fail(err, DDP_ERR_COMM, "rank %d sent %zu bytes where %zu are due", to->peer,
                        out->message.bytes, to->bytes);
    if (to->bytes)
        memcpy(to->buf, out->message.buf, to->bytes);
    in->state = ENDED;
    out->state = ENDED;
    return DDP_OK;
}

static ddp_status thread_test(ddp_group *g, int *ended, int *count, ddp_error *err)
{
    struct world *w = world_of(g);
    struct rank_requests *mine = &w->ranks[g->rank];
    ddp_status st = DDP_OK;

    *count = 0;
    lock(w);
    if (w->abort_status)
        st = ddp_fail(err, DDP_ERR_COMM, "rank %d aborted with status %d", w->abort_rank,
                      w->abort_status);
    for (int i = 0; !st && i < mine->count; i++) {
        struct request *q = &mine->requests[i];

        if (q->state == RECEIVING)
            st = take_message(g, q, err);
        if (q->state == ENDED) {
            q->state = UNUSED;
            ended[(*count)++] = i;
        }
    }
    unlock(w);
    if (*count == 0)
        (void)sched_yield();
    return st;
}

static ddp_status thread_use_channels(ddp_group *g, int channels, ddp_error *err)
{
    (void)g, (void)channels, (void)err;
    return DDP_OK;
}

static const struct ddp_transport transport = {
    .reserve = thread_reserve,
    .send = thread_send,
    .recv = thread_recv,
    .test = thread_test,
    .use_channels = thread_use_channels,
};

static void free_world(struct world *w)
{
    (void)pthread_mutex_destroy(&w->lock);
    free(w->ranks);
    free(w);
}

static void thread_close(ddp_group *g)
{
    struct world *w = world_of(g);
    int last;

    lock(w);
    /* No peer reads from this rank's buffers any more. */
    free(w->ranks[g->rank].requests);
    w->ranks[g->rank] = (struct rank_requests){NULL, 0};
    last = --w->open_groups == 0;
    unlock(w);
    ddp_chunk_pipeline_close(g);
    ddp_group_clear(g);
    if (last)
        free_world(w);
}

static void thread_abort(ddp_group *g, int exit_status)
{
    struct world *w = world_of(g);

    lock(w);
    if (!w->abort_status) {
        w->abort_status = exit_status;
        w->abort_rank = g->rank;
    }
    unlock(w);
}

static ddp_status open_never(ddp_group *g, ddp_error *err)
{
    (void)g;
    return ddp_fail(err, DDP_ERR_USAGE, "threads are opened by ddp_group_open_threads");
}

static const struct ddp_backend backend = {
    .name = "thread",
    .open = open_never,
    .close = thread_close,
    .abort = thread_abort,
};

/* How many ranks are on each host. */
struct layout {
    const int *ranks; /* NULL: all are on this one */
};

static void place(ddp_group *g, const struct layout *layout)
{
    int first = 0, host = 0, left = layout->ranks ? layout->ranks[0] : g->size;
    int firsts[MOST_RANKS];

    for (int r = 0; r < g->size; r++) {
        if (left-- == 0) {
            left = layout->ranks[++host] - 1;
            first = r;
        }
        firsts[r] = first;
        ddp_host_name(g->hosts[r]);
        if (layout->ranks)
            (void)snprintf(g->hosts[r], DDP_HOST_BYTES, "host%d", host);
    }
    ddp_group_set_places(g, firsts);
}

static ddp_status open_rank(ddp_group **out, struct world *w, int rank, const struct layout *layout,
                            ddp_error *err)
{
    ddp_group *g;

    if (ddp_group_alloc(&g, &backend, err))
        return err->code;
    *out = g;
    g->own = w;
    g->transport = &transport;
    w->open_groups++;
    if (ddp_group_set_ranks(g, rank, w->size, err))
        return err->code;
    place(g, layout);
    return ddp_chunk_pipeline_open(g, err);
}

static ddp_status open_world(ddp_group **groups, int size, const struct layout *layout,
                             ddp_error *err)
{
    ddp_status st = DDP_OK;
    struct world *w;

    if (size < 1)
        return ddp_fail(err, DDP_ERR_USAGE, "a group wants 1 or more ranks, not %d", size);
    if (size > MOST_RANKS)
        return ddp_fail(err, DDP_ERR_USAGE, "threads are %d ranks at most, not %d", MOST_RANKS,
                        size);
    for (int r = 0; r < size; r++)
        groups[r] = NULL;
    w = calloc(1, sizeof *w);
    if (w)
        w->ranks = calloc((size_t)size, sizeof *w->ranks);
    if (!w || !w->ranks || pthread_mutex_init(&w->lock, NULL) != 0) {
        if (w)
            free(w->ranks);
        free(w);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a world of %d ranks", size);
    }
    w->size = size;
    w->open_groups = 1; /* this call's own, until all ranks are there */
    for (int r = 0; !st && r < size; r++)
        st = open_rank(&groups[r], w, r, layout, err);
    for (int r = 0; st && r < size; r++) {
        ddp_group_close(groups[r]);
        groups[r] = NULL;
    }
    if (--w->open_groups == 0)
        free_world(w);
    return st;
}

ddp_status ddp_group_open_threads(ddp_group **groups, int size, ddp_error *err)
{
    return open_world(groups, size, &(struct layout){NULL}, err);
}

ddp_status ddp_group_open_hosts(ddp_group **groups, const int *ranks, int hosts, int radix,
                                ddp_error *err)
{
    ddp_status st;
    int size = 0;

    for (int h = 0; h < hosts; h++)
        size += ranks[h];
    st = open_world(groups, size, &(struct layout){ranks}, err);
    for (int r = 0; r < size && !st && radix; r++)
        groups[r]->radix = radix;
    return st;
}
