/* transport/mpi_init.h: MPI's start, and the first message between each two ranks. For mpi.c alone.
 */
#ifndef DDP_TRANSPORT_MPI_INIT_H
#define DDP_TRANSPORT_MPI_INIT_H

#include "base/status.h"

/* What an MPI call has returned, as an error; `what` is its name. */
ddp_status ddp_mpi_check(int rc, const char *what, ddp_error *err);

/* Start MPI with the settings that suit sums, unless it runs; *started: it was started here.
 * Fails with DDP_ERR_COMM. */
ddp_status ddp_mpi_start(int *started, ddp_error *err);

/* Send each other rank a first message, and wait for its one, for 20 s at most. Fails with
 * DDP_ERR_COMM, naming the lowest rank of which none has come, its host where the launcher can
 * tell, and the ports that must be open. */
ddp_status ddp_mpi_exchange_hosts(ddp_error *err);

#endif
