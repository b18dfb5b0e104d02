/* The backends (solo, MPI, Gloo) that this build has. ddp_group_open finds one by its name. */
#include "transport/backends.h"

#include <string.h>

static const struct ddp_backend *const backends[] = {
    &ddp_backend_solo,
#ifdef DDP_WITH_MPI
    &ddp_backend_mpi,
#endif
#ifdef DDP_WITH_GLOO
    &ddp_backend_gloo,
#endif
};

/* NULL: this build has none of that name. */
static const struct ddp_backend *find(const char *name)
{
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++)
        if (strcmp(name, backends[i]->name) == 0)
            return backends[i];
    return NULL;
}

int ddp_group_has(const char *backend)
{
    return find(backend) != NULL;
}

ddp_mpi_kind ddp_group_mpi_kind(void)
{
    const struct ddp_backend *mpi = find("mpi");

    return mpi ? mpi->kind() : DDP_MPI_NONE;
}

ddp_status ddp_group_open(ddp_group **out, const char *backend, ddp_error *err)
{
    const struct ddp_backend *b = find(backend);

    *out = NULL;
    if (!b)
        return ddp_fail(err, DDP_ERR_USAGE, "no backend '%s' in this build", backend);
    return ddp_group_open_with(out, b, err);
}
