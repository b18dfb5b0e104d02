/* launch/launcher_env.h: finds out who started this process, and how many ranks its host takes. */
#ifndef DDP_LAUNCH_LAUNCHER_ENV_H
#define DDP_LAUNCH_LAUNCHER_ENV_H

#include "base/status.h"

typedef struct ddp_launcher {
    int ranks;   /* ranks that the launcher says it has started; 0: no launcher */
    int rank;    /* rank of this process; 0 without a launcher */
    int by_hand; /* 1: ranks are started one by one (DDP_RANK_VARIABLE), by no launcher */
} ddp_launcher;

#define DDP_RANK_VARIABLE "DARKNET_DDP_RANK"
#define DDP_RANKS_VARIABLE "DARKNET_DDP_RANKS"

/* Read from the environment who started this process: mpirun (Open MPI or hydra), srun, or somebody
 * who starts ranks one by one and sets DDP_RANK_VARIABLE and DDP_RANKS_VARIABLE. If these two do
 * not hold a rank and a larger number of ranks, `ranks` is 0. A lone task of srun counts as started
 * by nobody, since it may be a shell. */
ddp_launcher ddp_launcher_read(void);

/* Remove from the environment what a launcher has left there. This process, and processes that it
 * starts, then find no launcher. Call before any thread is started. */
void ddp_launcher_forget(void);

/* Return 1 if mpirun or srun has started the ranks together. */
int ddp_launched(ddp_launcher launcher);

/* Fail with DDP_ERR_USAGE if srun has started ranks in a way that this MPI does not know, so that
 * they would not find each other. */
ddp_status ddp_launcher_check(ddp_launcher launcher, ddp_error *err) DDP_MUST_CHECK;

/* Return how many tasks the Slurm job has if its batch script or shell runs this process directly,
 * without srun, and there are more than one; else 0. */
int ddp_launcher_idle_tasks(ddp_launcher launcher);

/* Return how many CPU cores this process may run on; 1 if that is not known. */
int ddp_cores(void);

/* Fail with DDP_ERR_USAGE if `ranks` is more than 4 for each core of this process, unless
 * oversubscribe is 1. If it is 2 a core or more, print a sentence on standard output. */
ddp_status ddp_start_check(int ranks, int oversubscribe, ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if `ranks` is more than 4 for each core of this process. */
int ddp_too_many(int ranks);

#endif
