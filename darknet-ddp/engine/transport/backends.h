/* transport/backends.h: the backends of process groups (comm/backend.h), for ddp_group_open. */
#ifndef DDP_TRANSPORT_BACKENDS_H
#define DDP_TRANSPORT_BACKENDS_H

#include "comm/backend.h"

extern const struct ddp_backend ddp_backend_solo;
extern const struct ddp_backend ddp_backend_mpi;  /* only in builds with DDP_WITH_MPI */
extern const struct ddp_backend ddp_backend_gloo; /* only in builds with DDP_WITH_GLOO */

#endif
