/* transport/mpi_init.h: starts MPI, and checks that its network connects all ranks. For mpi.c. */
#ifndef DDP_TRANSPORT_MPI_INIT_H
#define DDP_TRANSPORT_MPI_INIT_H

#include "comm/group.h"

/* Fail with DDP_ERR_COMM unless rc, which an MPI call returned, is MPI_SUCCESS. The error has the
 * call's name `what`, and MPI's own sentence. */
ddp_status ddp_mpi_check(int rc, const char *what, ddp_error *err);

/* Return the kind of the MPI library that this process runs with, never DDP_MPI_NONE. MPI need not
 * have been started. */
ddp_mpi_kind ddp_mpi_kind_of_library(void);

/* Start MPI, unless it runs already, with settings that suit sums; settings in the environment take
 * precedence. *started becomes 1 if MPI was started here; the caller must then call MPI_Finalize,
 * and only the calling thread may use MPI. Fails with DDP_ERR_IO if all ranks are on one host,
 * whose /dev/shm is too small for them, else with DDP_ERR_COMM. */
ddp_status ddp_mpi_start(int *started, ddp_error *err);

/* Exchange a first message with every other rank, to check that messages pass. Every rank calls it
 * after MPI's start. May take 21 s. Fails with DDP_ERR_NOMEM, and with DDP_ERR_COMM if messages do
 * not pass. The error names the lowest rank that is cut off, its host if the launcher knows it, and
 * the ports that must be open. After a failure leave out MPI_Finalize, which may wait for ever. */
ddp_status ddp_mpi_greet_ranks(ddp_error *err);

#endif
