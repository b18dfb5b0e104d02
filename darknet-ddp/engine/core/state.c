#include "core/state.h"

#include "base/huge_pages.h"
#include "comm/collectives.h"

#include <stdlib.h>
#include <string.h>

/* A set: an array for each parameter, one after the other. */
struct array_set {
    ddp_state_spec spec;
    size_t *counts; /* of each parameter */
    size_t *places; /* where its floats begin */
    size_t count;   /* of all */
    float *host;
    float *used; /* of the device; on the host the same. NULL: it is used nowhere */
    float *all;  /* ranks' one after the other; NULL: none were gathered */
};

struct ddp_state {
    size_t param_count;
    size_t set_count;
    struct array_set *sets;
    ddp_device *device; /* NULL: it is used nowhere */
    int gathered;       /* ranks */
};

/* ---- opening ---- */

ddp_status ddp_state_open(ddp_state **out, size_t param_count, ddp_error *err)
{
    ddp_state *s = calloc(1, sizeof *s);

    *out = s;
    if (!s)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for state beside the network's");
    s->param_count = param_count;
    return DDP_OK;
}

static void release(struct array_set *a)
{
    free(a->counts);
    free(a->places);
    free(a->host);
    free(a->all);
}

void ddp_state_close(ddp_state *s)
{
    if (!s)
        return;
    ddp_state_leave_device(s);
    for (size_t i = 0; i < s->set_count; i++)
        release(&s->sets[i]);
    free(s->sets);
    free(s);
}

static ddp_status allocate(struct array_set *a, size_t param_count, ddp_error *err)
{
    a->counts = calloc(param_count + 1, sizeof *a->counts);
    a->places = calloc(param_count + 1, sizeof *a->places);
    if (a->counts && a->places)
        a->host = ddp_pages_alloc(a->count * sizeof *a->host);
    if (!a->host)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu numbers of state (%s)", a->count,
                        a->spec.name);
    return DDP_OK;
}

ddp_status ddp_state_add_set(ddp_state *s, const ddp_state_spec *spec, const size_t *counts,
                             size_t *set, ddp_error *err)
{
    struct array_set *grown = realloc(s->sets, (s->set_count + 1) * sizeof *grown), *a;
    size_t at = 0;

    if (!grown)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for state beside the network's");
    s->sets = grown;
    a = &grown[s->set_count];
    *a = (struct array_set){.spec = *spec};
    for (size_t i = 0; i < s->param_count; i++)
        a->count += counts[i];
    if (allocate(a, s->param_count, err)) {
        release(a);
        return err->code;
    }
    for (size_t i = 0; i < s->param_count; i++) {
        a->counts[i] = counts[i];
        a->places[i] = at;
        at += counts[i];
    }
    *set = s->set_count++;
    return DDP_OK;
}

size_t ddp_state_set_count(const ddp_state *s)
{
    return s ? s->set_count : 0;
}

const ddp_state_spec *ddp_state_set_spec(const ddp_state *s, size_t set)
{
    return &s->sets[set].spec;
}

size_t ddp_state_floats(const ddp_state *s, size_t set, size_t i)
{
    return s->sets[set].counts[i];
}

static float *of_param(const struct array_set *a, float *memory, size_t i)
{
    return a->counts[i] ? memory + a->places[i] : NULL;
}

float *ddp_state_host(const ddp_state *s, size_t set, size_t i)
{
    return of_param(&s->sets[set], s->sets[set].host, i);
}

/* ---- on a device ---- */

static int is_on_gpu(const ddp_state *s)
{
    return s->device && !ddp_device_is_host(s->device);
}

static void free_used(ddp_state *s)
{
    for (size_t i = 0; i < s->set_count; i++) {
        if (is_on_gpu(s))
            ddp_device_free(s->device, s->sets[i].used);
        s->sets[i].used = NULL;
    }
    s->device = NULL;
}

void ddp_state_leave_device(ddp_state *s)
{
    ddp_state_pull(s);
    free_used(s);
}

static ddp_status push(ddp_device *d, struct array_set *a, ddp_error *err)
{
    if (ddp_device_alloc(d, &a->used, a->count, err))
        return ddp_wrap(err, "state beside the network's (%s)", a->spec.name);
    ddp_device_push(d, a->used, a->host, a->count);
    return DDP_OK;
}

ddp_status ddp_state_use_device(ddp_state *s, ddp_device *d, ddp_error *err)
{
    s->device = d;
    for (size_t i = 0; i < s->set_count; i++)
        if (!is_on_gpu(s)) {
            s->sets[i].used = s->sets[i].host;
        } else if (push(d, &s->sets[i], err)) {
            free_used(s);
            return err->code;
        }
    return DDP_OK;
}

float *ddp_state_on_device(const ddp_state *s, size_t set, size_t i)
{
    return of_param(&s->sets[set], s->sets[set].used, i);
}

void ddp_state_pull(ddp_state *s)
{
    if (!is_on_gpu(s))
        return;
    ddp_device_synchronize(s->device); /* some is made beside the framework's work */
    for (size_t i = 0; i < s->set_count; i++)
        if (s->sets[i].spec.kind != DDP_STATE_SCRATCH)
            ddp_device_pull(s->device, s->sets[i].host, s->sets[i].used, s->sets[i].count);
}

/* ---- between ranks ---- */

static int is_of_rank(const struct array_set *a)
{
    return a->spec.kind == DDP_STATE_OF_RANK;
}

static size_t bytes_of(const struct array_set *a)
{
    return a->count * sizeof *a->host;
}

static float *all_of(const struct array_set *a, int rank)
{
    return a->all + (size_t)rank * a->count;
}

int ddp_state_has_rank_arrays(const ddp_state *s)
{
    for (size_t i = 0; s && i < s->set_count; i++)
        if (is_of_rank(&s->sets[i]))
            return 1;
    return 0;
}

static void forget(ddp_state *s)
{
    for (size_t i = 0; i < s->set_count; i++) {
        free(s->sets[i].all);
        s->sets[i].all = NULL;
    }
    s->gathered = 0;
}

ddp_status ddp_state_reserve(ddp_state *s, int ranks, ddp_error *err)
{
    forget(s);
    for (size_t i = 0; i < s->set_count; i++) {
        struct array_set *a = &s->sets[i];

        if (!is_of_rank(a))
            continue;
        a->all = calloc((size_t)ranks * a->count + 1, sizeof *a->all);
        if (!a->all) {
            forget(s);
            return ddp_fail(err, DDP_ERR_NOMEM,
                            "no memory for the state of %d ranks (%s), %zu numbers of each", ranks,
                            a->spec.name, a->count);
        }
    }
    s->gathered = ranks;
    return DDP_OK;
}

int ddp_state_gathered_ranks(const ddp_state *s)
{
    return s->gathered;
}

float *ddp_state_gathered_array(const ddp_state *s, size_t set, int rank, size_t i)
{
    const struct array_set *a = &s->sets[set];

    return of_param(a, all_of(a, rank), i);
}

static ddp_status gather_array(const struct array_set *a, ddp_group *group, ddp_error *err)
{
    int me = ddp_group_rank(group);

    if (me == 0)
        memcpy(a->all, a->host, bytes_of(a));
    for (int rank = 1; rank < ddp_group_size(group); rank++)
        if (ddp_transfer(group, me == 0 ? all_of(a, rank) : a->host, bytes_of(a), rank, 0, err))
            return ddp_wrap(err, "state of rank %d (%s)", rank, a->spec.name);
    return DDP_OK;
}

ddp_status ddp_state_gather(ddp_state *s, ddp_group *group, ddp_error *err)
{
    if (ddp_group_rank(group) == 0 || ddp_state_has_rank_arrays(s))
        ddp_state_pull(s);
    if (!ddp_state_has_rank_arrays(s))
        return DDP_OK;
    if (ddp_group_rank(group) == 0 && ddp_state_reserve(s, ddp_group_size(group), err))
        return err->code;
    for (size_t i = 0; i < s->set_count; i++)
        if (is_of_rank(&s->sets[i]) && gather_array(&s->sets[i], group, err))
            return err->code;
    return DDP_OK;
}

/* Give what old rank `from` has left to the rank that goes on with it. The first becomes that
 * rank's own; others, of a run with more ranks, are added to it by way of scratch. */
static ddp_status hand_back(const struct array_set *a, ddp_group *group, int root, int from,
                            float *scratch, ddp_error *err)
{
    int me = ddp_group_rank(group), to = from % ddp_group_size(group);
    float *mine = from == me ? a->host : scratch;

    if (me == root && to == root)
        memcpy(mine, all_of(a, from), bytes_of(a));
    else if (ddp_transfer(group, me == root ? all_of(a, from) : mine, bytes_of(a), root, to, err))
        return ddp_wrap(err, "state of rank %d (%s)", from, a->spec.name);
    if (me == to && from != me) /* the first without an addition: -0 stays -0 */
        for (size_t i = 0; i < a->count; i++)
            a->host[i] += scratch[i];
    return DDP_OK;
}

static ddp_status hand_back_all(const struct array_set *a, ddp_group *group, int root, int from,
                                ddp_error *err)
{
    float *scratch = NULL;
    ddp_status st = DDP_OK;

    if (from > ddp_group_size(group) && !(scratch = calloc(a->count + 1, sizeof *scratch)))
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu numbers of state (%s)", a->count,
                        a->spec.name);
    if (from > 0)
        memset(a->host, 0, bytes_of(a));
    for (int rank = 0; rank < from && !st; rank++)
        st = hand_back(a, group, root, rank, scratch, err);
    free(scratch);
    return st;
}

static ddp_status share_array(const struct array_set *a, ddp_group *group, int root, int from,
                              ddp_error *err)
{
    if (a->spec.kind == DDP_STATE_SCRATCH)
        return DDP_OK;
    if (is_of_rank(a))
        return hand_back_all(a, group, root, from, err);
    if (ddp_broadcast(group, a->host, bytes_of(a), root, err))
        return ddp_wrap(err, "state beside the network's (%s)", a->spec.name);
    return DDP_OK;
}

ddp_status ddp_state_share(ddp_state *s, ddp_group *group, int root, ddp_error *err)
{
    int from = s->gathered;

    if (ddp_broadcast(group, &from, sizeof from, root, err))
        return err->code;
    for (size_t i = 0; i < s->set_count; i++)
        if (share_array(&s->sets[i], group, root, from, err))
            return err->code;
    forget(s);
    return DDP_OK;
}
