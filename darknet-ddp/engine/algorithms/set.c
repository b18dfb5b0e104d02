#include "algorithms/set.h"

#include <stdlib.h>

struct member {
    const ddp_algorithm *algorithm;
    void *self;
};

struct ddp_algorithm_set {
    size_t count;
    size_t attached; /* of them, the first ones */
    int was_attached;
    ddp_state *state;
    struct member members[];
};

static size_t count_all(void)
{
    size_t count = 0;

    while (ddp_algorithms[count])
        count++;
    return count;
}

static ddp_status add_member(ddp_algorithm_set *s, const ddp_algorithm *a,
                             const ddp_algorithm_of *of, ddp_error *err)
{
    struct member *new = &s->members[s->count];

    if (a->check_run && a->check_run(of, err))
        return err->code;
    new->algorithm = a;
    new->self = NULL;
    if (a->open && a->open(&new->self, of, err))
        return err->code;
    s->count++;
    return DDP_OK;
}

ddp_status ddp_algorithm_set_open(ddp_algorithm_set **out, const ddp_algorithm_of *of,
                                  ddp_error *err)
{
    ddp_algorithm_set *s = calloc(1, sizeof *s + count_all() * sizeof s->members[0]);
    ddp_algorithm_of with = *of;
    ddp_status st;

    *out = NULL;
    if (!s)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for algorithms");
    st = ddp_state_open(&s->state, of->table->param_count, err);
    with.state = s->state;
    for (size_t i = 0; ddp_algorithms[i] && !st; i++)
        if (ddp_algorithms[i]->is_on(of->options))
            st = add_member(s, ddp_algorithms[i], &with, err);
    if (st) {
        ddp_algorithm_set_close(s);
        return st;
    }
    *out = s;
    return DDP_OK;
}

void ddp_algorithm_set_close(ddp_algorithm_set *s)
{
    if (!s)
        return;
    ddp_algorithm_set_detach(s);
    for (size_t i = 0; i < s->count; i++)
        if (s->members[i].self && s->members[i].algorithm->close)
            s->members[i].algorithm->close(s->members[i].self);
    ddp_state_close(s->state);
    free(s);
}

ddp_status ddp_algorithm_set_attach(ddp_algorithm_set *s, const ddp_attached *a, ddp_error *err)
{
    s->was_attached = 1;
    for (; s->attached < s->count; s->attached++) {
        const struct member *m = &s->members[s->attached];

        if (m->self && m->algorithm->attach && m->algorithm->attach(m->self, a, err)) {
            ddp_algorithm_set_detach(s);
            return err->code;
        }
    }
    return DDP_OK;
}

void ddp_algorithm_set_detach(ddp_algorithm_set *s)
{
    while (s->attached > 0) {
        const struct member *m = &s->members[--s->attached];

        if (m->self && m->algorithm->detach)
            m->algorithm->detach(m->self);
    }
}

int ddp_algorithm_set_was_attached(const ddp_algorithm_set *s)
{
    return s->was_attached;
}

/* ---- who plugs in where ---- */

/* Return the sharded member that has something to do in this run; NULL: none. s may be NULL. */
static const struct member *find_sharded(const ddp_algorithm_set *s)
{
    for (size_t i = 0; s && i < s->count; i++)
        if (s->members[i].self && s->members[i].algorithm->sharded)
            return &s->members[i];
    return NULL;
}

ddp_state *ddp_algorithm_set_state(const ddp_algorithm_set *s)
{
    return s ? s->state : NULL;
}

ddp_plugs ddp_algorithm_set_plugs(const ddp_algorithm_set *s)
{
    ddp_plugs plugs = {0};

    for (size_t i = 0; s && i < s->count; i++) {
        const ddp_algorithm *a = s->members[i].algorithm;
        void *self = s->members[i].self;

        if (self && a->codec) {
            plugs.codec = a->codec;
            plugs.codec_self = self;
        }
        if (self && a->update) {
            plugs.update = a->update;
            plugs.update_self = self;
        }
        if (self && a->step) {
            plugs.step = a->step;
            plugs.step_self = self;
        }
        if (self && a->layers) {
            plugs.layers = a->layers;
            plugs.layers_self = self;
        }
    }
    return plugs;
}

int ddp_algorithm_set_is_sharded(const ddp_algorithm_set *s)
{
    return find_sharded(s) != NULL;
}

ddp_sharded *ddp_algorithm_set_moments(const ddp_algorithm_set *s)
{
    const struct member *m = find_sharded(s);

    return m ? m->algorithm->moments(m->self) : NULL;
}

void ddp_algorithm_set_print(const ddp_algorithm_set *s, FILE *out)
{
    for (size_t i = 0; s && i < s->count; i++)
        if (s->members[i].algorithm->print)
            s->members[i].algorithm->print(s->members[i].self, out);
}

void ddp_algorithm_set_print_resumed(const ddp_algorithm_set *s, int was, int now)
{
    for (size_t i = 0; s && i < s->count; i++)
        if (s->members[i].algorithm->print_resumed)
            s->members[i].algorithm->print_resumed(was, now);
}

void ddp_algorithm_set_print_end(const ddp_algorithm_set *s, FILE *out, size_t steps)
{
    for (size_t i = 0; s && i < s->count; i++)
        if (s->members[i].self && s->members[i].algorithm->print_end)
            s->members[i].algorithm->print_end(s->members[i].self, out, steps);
}
