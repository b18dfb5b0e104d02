/* launch/launcher_env.h: finds out which launcher started this process, and whether this host has
 * enough CPU cores for its ranks. */
#ifndef DDP_LAUNCH_LAUNCHER_ENV_H
#define DDP_LAUNCH_LAUNCHER_ENV_H

#include "base/status.h"

typedef struct ddp_launcher {
    int ranks;   /* number of ranks that were started; 0: this process is no rank */
    int rank;    /* rank of this process, from 0 */
    int by_hand; /* 1: the ranks are started one by one, by no launcher */
} ddp_launcher;

/* Environment variables by which a process that is started by hand knows its rank, and the number
 * of ranks. */
#define DDP_RANK_VARIABLE "DARKNET_DDP_RANK"
#define DDP_RANKS_VARIABLE "DARKNET_DDP_RANKS"

/* Read from the environment whether mpirun (Open MPI or hydra) or srun started this process, or
 * somebody who set DDP_RANK_VARIABLE and DDP_RANKS_VARIABLE. These two count only if they hold a
 * rank and a larger number of ranks. A lone task of srun counts as no rank, since it may be a
 * shell. */
ddp_launcher ddp_launcher_read(void);

/* Remove from the environment what a launcher has left there. This process, and processes that it
 * starts, then find no launcher. Call before any thread is started. */
void ddp_launcher_forget(void);

/* Return 1 if mpirun or srun has started the ranks. */
int ddp_launched(ddp_launcher launcher);

/* Fail with DDP_ERR_USAGE if srun started the ranks with a --mpi= that this MPI does not know: they
 * would not find each other by MPI. Call only if MPI is to connect them. */
ddp_status ddp_launcher_check(ddp_launcher launcher, ddp_error *err) DDP_MUST_CHECK;

/* Return the number of tasks of a Slurm job of several tasks, if its batch script runs this process
 * without srun, so that the other tasks are idle. Else return 0. */
int ddp_launcher_idle_tasks(ddp_launcher launcher);

/* Return how many CPU cores this process may run on; 1 if that is not known. */
int ddp_cores(void);

/* Fail with DDP_ERR_USAGE if `ranks` ranks overload the cores, unless oversubscribe is 1. If there
 * are 2 ranks a core or more, print a sentence on standard output. */
ddp_status ddp_cores_check(int ranks, int oversubscribe, ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if `ranks` is more than 4 for each core that this process may run on. */
int ddp_ranks_overload_cores(int ranks);

#endif
