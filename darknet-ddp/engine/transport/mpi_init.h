/* transport/mpi_init.h: MPI's start, and the first message between each two ranks. For mpi.c alone.
 */
#ifndef DDP_TRANSPORT_MPI_INIT_H
#define DDP_TRANSPORT_MPI_INIT_H

#include "comm/group.h"

/* Return DDP_OK if rc, what an MPI call has returned, is MPI_SUCCESS. Else fail with DDP_ERR_COMM,
 * the call's name `what` and MPI's own sentence. */
ddp_status ddp_mpi_check(int rc, const char *what, ddp_error *err);

/* Return the MPI library that this process is linked with, never DDP_MPI_NONE. MPI need not run. */
ddp_mpi_kind ddp_mpi_kind_of_library(void);

/* Start MPI, if it does not run yet, with settings that suit sums. What the environment sets stays.
 * *started becomes 1 if MPI was started here; the caller must then call MPI_Finalize. Fails with
 * DDP_ERR_IO if /dev/shm is too small for the ranks of this host, else with DDP_ERR_COMM. */
ddp_status ddp_mpi_start(int *started, ddp_error *err);

/* Send each other rank a first message and wait for the one that it sends, for 20 s at most. Every
 * rank calls it after MPI's start. Fails with DDP_ERR_NOMEM, or DDP_ERR_COMM: the error names the
 * lowest rank whose message has not come, its host if the launcher can tell, and the ports that
 * must be open. */
ddp_status ddp_mpi_greet_ranks(ddp_error *err);

#endif
