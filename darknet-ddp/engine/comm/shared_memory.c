#include "comm/shared_memory.h"

#include "base/clock.h"
#include "comm/collective.h"
#include "comm/collectives.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME "darknet-ddp"

struct ddp_shared_memory {
    char *base;
    size_t bytes_each; /* whole pages */
    size_t bytes;
};

/* Where the others of a host find the file. Zero: there is none. */
struct place {
    int64_t process;
    int64_t file;
    /* in its first bytes: another container may have such a process, of this very program */
    uint64_t mark;
};

static size_t whole_pages(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return (bytes + page - 1) / page * page;
}

static int map(struct ddp_shared_memory *m, int file)
{
    void *at = mmap(NULL, m->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    if (at == MAP_FAILED)
        return 0;
    m->base = at;
    (void)madvise(at, m->bytes, MADV_HUGEPAGE); /* advice: small pages will do */
    return 1;
}

/* Where files are limited (ulimit -f), one that is longer would end the process. */
static int may_be_so_long(size_t bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes <= limit.rlim_cur;
}

/* Returns the file, or -1. */
static int make(struct ddp_shared_memory *m, uint64_t mark)
{
    int file = may_be_so_long(m->bytes) ? memfd_create(FILE_NAME, MFD_CLOEXEC) : -1;

    if (file < 0)
        return -1;
    if (ftruncate(file, (off_t)m->bytes) == 0 && map(m, file)) {
        *(uint64_t *)m->base = mark;
        return file;
    }
    (void)close(file);
    return -1;
}

/* Another container's process of that number may have anything open there. */
static int is_ours(const char *path)
{
    char name[64] = "";

    return readlink(path, name, sizeof name - 1) > 0
           && strncmp(name, "/memfd:" FILE_NAME, strlen("/memfd:" FILE_NAME)) == 0;
}

static void find(struct ddp_shared_memory *m, const struct place *place)
{
    struct stat is;
    char path[64];
    int file;

    (void)snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)place->process,
                   (long long)place->file);
    if (place->process == 0 || !is_ours(path))
        return;
    file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return;
    if (fstat(file, &is) == 0 && (size_t)is.st_size == m->bytes && map(m, file)
        && *(const uint64_t *)m->base != place->mark) {
        (void)munmap(m->base, m->bytes);
        m->base = NULL;
    }
    (void)close(file);
}

/* The first rank of a host tells the others. */
static ddp_status tell_host(ddp_group *g, struct place *place, ddp_error *err)
{
    int first = g->rank - g->local_rank;

    for (int r = first + 1; g->local_rank == 0 && r < first + g->local_size; r++)
        if (ddp_collective_send(g, r, place, sizeof *place, err))
            return err->code;
    if (g->local_rank > 0 && ddp_collective_recv(g, first, place, sizeof *place, err))
        return err->code;
    if (ddp_collective_finish(g, err))
        return err->code;
    ddp_collective_next(g);
    return DDP_OK;
}

/* Do all ranks have theirs? Nobody passes before all have looked for it. */
static ddp_status agree(ddp_group *g, int have, ddp_error *err)
{
    int *all = ddp_allgather_new(g, &have, sizeof have, err);
    ddp_status st = DDP_OK;

    if (!all)
        return err->code;
    for (int r = 0; r < g->size && !st; r++)
        if (!all[r])
            st = ddp_fail(err, DDP_ERR_USAGE,
                          "rank %d (host %s) cannot share memory with the ranks of its host", r,
                          g->hosts[r]);
    free(all);
    return st;
}

/* Two barriers apart: the mark is gone before anybody uses the memory. */
static ddp_status share(struct ddp_shared_memory *m, ddp_group *g, ddp_error *err)
{
    struct place place = {0};
    int file = -1;
    ddp_status st;

    if (g->local_rank == 0) {
        place.mark = (uint64_t)ddp_clock_ns();
        file = make(m, place.mark);
        if (file >= 0) {
            place.process = getpid();
            place.file = file;
        }
    }
    st = tell_host(g, &place, err);
    if (!st && g->local_rank > 0)
        find(m, &place);
    if (!st)
        st = agree(g, m->base != NULL, err);
    if (file >= 0) {
        (void)close(file);
        *(uint64_t *)m->base = 0;
    }
    return st ? st : ddp_barrier(g, err);
}

ddp_status ddp_shared_memory_open(struct ddp_shared_memory **out, ddp_group *g, size_t bytes,
                                  ddp_error *err)
{
    struct ddp_shared_memory *m = calloc(1, sizeof *m);
    ddp_status st;

    *out = NULL;
    if (!m)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the host's shared memory");
    m->bytes_each = whole_pages(bytes);
    m->bytes = m->bytes_each * (size_t)g->local_size;
    st = share(m, g, err);
    if (st)
        ddp_shared_memory_close(m);
    else
        *out = m;
    return st;
}

void *ddp_shared_memory_of(const struct ddp_shared_memory *m, int local_rank)
{
    return m->base + (size_t)local_rank * m->bytes_each;
}

void ddp_shared_memory_close(struct ddp_shared_memory *m)
{
    if (!m)
        return;
    if (m->base)
        (void)munmap(m->base, m->bytes);
    free(m);
}
