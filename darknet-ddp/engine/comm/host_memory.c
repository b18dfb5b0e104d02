#include "comm/host_memory.h"

#include "comm/shared_memory.h"

#include <stdlib.h>

/* A place: the number of the memory, from 1, and bytes from its beginning. */
enum { NUMBER_SHIFT = 44 };
#define OFFSET_MASK (((uint64_t)1 << NUMBER_SHIFT) - 1)

struct ddp_host_memory {
    struct ddp_host_memory *next;
    struct ddp_shared_memory *shared;
    char *own;
    size_t bytes;
    uint64_t number; /* ranks make them in the same order: the same on each */
};

ddp_status ddp_host_memory_alloc(ddp_group *g, void **x, size_t bytes, ddp_error *err)
{
    struct ddp_host_memory *m = calloc(1, sizeof *m);
    ddp_status st;

    *x = NULL;
    if (!m)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for what ranks of a host share");
    st = ddp_shared_memory_open(&m->shared, g, bytes, err);
    if (st) {
        free(m);
        return st == DDP_ERR_USAGE ? DDP_OK : st;
    }
    m->own = *x = ddp_shared_memory_of(m->shared, g->local_rank);
    m->bytes = bytes;
    m->number = ++g->host_memory_count;
    m->next = g->host_memory;
    g->host_memory = m;
    return DDP_OK;
}

static void release(struct ddp_host_memory *m)
{
    ddp_shared_memory_close(m->shared);
    free(m);
}

int ddp_host_memory_free(ddp_group *g, const void *x)
{
    for (struct ddp_host_memory **at = &g->host_memory; *at; at = &(*at)->next) {
        struct ddp_host_memory *m = *at;

        if (m->own != x)
            continue;
        *at = m->next;
        release(m);
        return 1;
    }
    return 0;
}

uint64_t ddp_host_memory_place(const ddp_group *g, const void *x, size_t bytes)
{
    uintptr_t begin = (uintptr_t)x;

    for (const struct ddp_host_memory *m = g->host_memory; m; m = m->next) {
        uintptr_t own = (uintptr_t)m->own;

        if (begin >= own && begin + bytes <= own + m->bytes)
            return m->number << NUMBER_SHIFT | (begin - own);
    }
    return 0;
}

void *ddp_host_memory_at(const ddp_group *g, int local_rank, uint64_t place)
{
    for (const struct ddp_host_memory *m = g->host_memory; m; m = m->next)
        if (m->number == place >> NUMBER_SHIFT)
            return (char *)ddp_shared_memory_of(m->shared, local_rank) + (place & OFFSET_MASK);
    return NULL;
}

void ddp_host_memory_close(ddp_group *g)
{
    while (g->host_memory) {
        struct ddp_host_memory *m = g->host_memory;

        g->host_memory = m->next;
        release(m);
    }
}
