/* launch/launcher_env.h: finds out whether a launcher started this process, and as which rank, and
 * whether this host has enough CPU cores for ranks. */
#ifndef DDP_LAUNCH_LAUNCHER_ENV_H
#define DDP_LAUNCH_LAUNCHER_ENV_H

#include "base/status.h"

typedef struct ddp_launcher {
    int ranks; /* number of ranks that were started; 0: this process is no rank */
    int rank;  /* rank of this process, from 0 */
    /* 1: DDP_RANK_VARIABLE or DDP_RANKS_VARIABLE is set: no launcher starts the ranks */
    int by_hand;
} ddp_launcher;

/* Environment variable with the rank, from 0, of a process that the user starts by hand. */
#define DDP_RANK_VARIABLE "DARKNET_DDP_RANK"
/* Environment variable with the number of ranks, for a process that the user starts by hand. */
#define DDP_RANKS_VARIABLE "DARKNET_DDP_RANKS"

/* Read from the environment which rank this process is. mpirun (Open MPI or hydra), srun or the
 * user (DDP_RANK_VARIABLE) has set it there. If the user's numbers are wrong, by_hand is 1 and
 * ranks 0. A lone task of srun counts as no rank, since it may be a shell. */
ddp_launcher ddp_launcher_read(void);

/* Remove from the environment the variables that give this process a rank. Processes that it starts
 * then find no launcher. Call before any thread is started. */
void ddp_launcher_forget(void);

/* Return 1 if mpirun or srun has started the ranks. */
int ddp_launched(ddp_launcher launcher);

/* Check that MPI can connect the ranks. Call only if MPI is to connect them. Fails with
 * DDP_ERR_USAGE if srun started them with a --mpi= that this MPI does not know. */
ddp_status ddp_launcher_check(ddp_launcher launcher, ddp_error *err) DDP_MUST_CHECK;

/* Return the number of tasks of the Slurm job if its batch script or shell runs this process,
 * without srun. Its other tasks are then idle. Returns 0 otherwise, or if the job has one task. */
int ddp_launcher_idle_tasks(ddp_launcher launcher);

/* Return how many CPU cores this process may run on; 1 if that is not known. */
int ddp_cores(void);

/* Fail with DDP_ERR_USAGE if `ranks` is more than 4 for each core, unless oversubscribe is 1. If it
 * is 2 or more for each core, print a sentence on standard output. */
ddp_status ddp_cores_check(int ranks, int oversubscribe, ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if `ranks` is more than 4 for each core that this process may run on. */
int ddp_ranks_overload_cores(int ranks);

#endif
