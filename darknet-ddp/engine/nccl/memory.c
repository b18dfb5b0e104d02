/* Memory of a GPU for sums by NCCL: NCCL allocates it, and it is registered with NCCL on all ranks
 * or on none. With NCCL before 2.19, ordered sums or several channels, or if NCCL fails to allocate
 * it, it is plain CUDA memory. */
#include "comm/collectives.h"
#include "nccl/state.h"

#include <stdlib.h>

enum { REGISTERS = 21900 };

struct ddp_nccl_memory {
    float *x;
    void *handle; /* NULL: not registered */
    struct ddp_nccl_memory *next;
};

static float *alloc_for_nccl(size_t count)
{
    void *x = NULL;

#if NCCL_VERSION_CODE >= 21900
    if (ncclMemAlloc(&x, (count + 1) * sizeof(float)) != ncclSuccess) {
        (void)cudaGetLastError(); /* or Darknet's next call would report it */
        x = NULL;
    }
#endif
    (void)count;
    return x;
}

/* Return 1 if all ranks have a handle, else 0. If that cannot be learnt, returns 0, and the next
 * call on the group fails. */
static int is_everywhere(ddp_group *g, const struct ddp_nccl_memory *m)
{
    int holds = m->handle != NULL;
    ddp_error ignored;

    return !ddp_holds_on_all(g, &holds, &ignored) && holds;
}

static void unregister(ddp_group *g, struct ddp_nccl_memory *m)
{
#if NCCL_VERSION_CODE >= 21900
    ncclComm_t comm = ddp_nccl_of(g)->channels[0].comm;
    ddp_error ignored;

    if (m->handle && comm)
        (void)DDP_NCCL(g, ncclCommDeregister(comm, m->handle), &ignored);
#endif
    (void)g;
    m->handle = NULL;
}

/* Registered on every rank or on none: NCCL's behaviour is undefined where only one side of a
 * call's buffers is. So ordered sums, which receive into scratch memory, go without, and so do
 * sums that take turns at several communicators, each of which would want a handle. Where
 * it fails, sums take the way through NCCL's own buffers. */
static void register_memory(ddp_group *g, struct ddp_nccl_memory *m, size_t count)
{
    struct ddp_nccl *n = ddp_nccl_of(g);

#if NCCL_VERSION_CODE >= 21900
    ddp_error ignored;

    if (m->x
        && DDP_NCCL(
            g, ncclCommRegister(n->channels[0].comm, m->x, (count + 1) * sizeof(float), &m->handle),
            &ignored))
        m->handle = NULL;
#endif
    (void)n, (void)count;
    if (!is_everywhere(g, m))
        unregister(g, m);
}

/* Unlike cudaFree, ncclMemFree does not wait for the work that uses the memory. */
static void free_for_nccl(ddp_group *g, struct ddp_nccl_memory *m)
{
    ddp_device_synchronize(&g->gpu->cuda->base);
    unregister(g, m);
#if NCCL_VERSION_CODE >= 21900
    (void)ncclMemFree(m->x);
#endif
}

/* A failure of this rank alone must not keep it from register_memory: the others wait there. */
float *ddp_nccl_alloc(ddp_group *g, size_t count)
{
    struct ddp_nccl *n = ddp_nccl_of(g);
    struct ddp_nccl_memory made = {0}, *m;
    float *x = NULL;
    ddp_error ignored;

    if (n->version >= REGISTERS && !g->gpu->config.exact && g->channels == 1) {
        made.x = alloc_for_nccl(count);
        register_memory(g, &made, count);
    }
    if (!made.x)
        return ddp_device_alloc(&g->gpu->cuda->base, &x, count, &ignored) ? NULL : x;
    m = malloc(sizeof *m);
    if (!m) {
        free_for_nccl(g, &made);
        return NULL;
    }
    ddp_device_zero(&g->gpu->cuda->base, made.x, count);
    made.next = n->memory;
    *m = made;
    n->memory = m;
    return m->x;
}

void ddp_nccl_free(ddp_group *g, float *x)
{
    struct ddp_nccl *n = ddp_nccl_of(g);

    for (struct ddp_nccl_memory **at = &n->memory; *at; at = &(*at)->next) {
        struct ddp_nccl_memory *m = *at;

        if (m->x != x)
            continue;
        *at = m->next;
        free_for_nccl(g, m);
        free(m);
        return;
    }
    ddp_device_free(&g->gpu->cuda->base, x);
}

void ddp_nccl_free_all(ddp_group *g)
{
    struct ddp_nccl *n = ddp_nccl_of(g);

    while (n->memory) {
        struct ddp_nccl_memory *m = n->memory;

        n->memory = m->next;
        free_for_nccl(g, m);
        free(m);
    }
}
