/* cli/launcher.h: who started this process, and starting ranks ourselves. */
#ifndef DDP_CLI_LAUNCHER_H
#define DDP_CLI_LAUNCHER_H

#include "base/status.h"

typedef struct ddp_launch {
    int ranks; /* that the launcher says it started; 0: no launcher */
    int rank;  /* of this process; 0 without a launcher */
} ddp_launch;

/* Read what mpirun (Open MPI, any PMIx) or srun left in the environment. */
ddp_launch ddp_launch_read(void);

/* CPU cores that this process may run on. */
int ddp_cores(void);

/* Run this very command under `mpirun -np ranks` (cli/spawn.h) and exit with its status:
 * returns only on failure. Each rank may run on any core of this host and gets
 * OMP_NUM_THREADS = cores / ranks, at least 1, unless the environment has it.
 * Fails with DDP_ERR_IO. */
ddp_status ddp_launch_here(int ranks, char **argv, ddp_error *err);

#endif
