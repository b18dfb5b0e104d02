/* launch/launcher_env.h: who started this process, and how many ranks its host takes. */
#ifndef DDP_LAUNCH_LAUNCHER_ENV_H
#define DDP_LAUNCH_LAUNCHER_ENV_H

#include "base/status.h"

typedef struct ddp_launcher {
    int ranks;   /* that the launcher says it started; 0: no launcher */
    int rank;    /* of this process; 0 without a launcher */
    int by_hand; /* 1: the two variables below say so, and no program started them together */
} ddp_launcher;

#define DDP_RANK_VARIABLE "DARKNET_DDP_RANK"
#define DDP_RANKS_VARIABLE "DARKNET_DDP_RANKS"

/* Read what mpirun (Open MPI, any PMIx) or srun left in the environment, or who starts ranks one by
 * one: ranks is 0 where his two numbers are none of a rank. A lone task of srun has no launcher: it
 * may be a shell. */
ddp_launcher ddp_launcher_read(void);

/* Forget what a launcher has left in the environment: this process, and what it starts, read that
 * there is none. Call before any thread is started. */
void ddp_launcher_forget(void);

/* Were the ranks started together, by mpirun or srun? */
int ddp_launched(ddp_launcher launcher);

/* Can these processes find each other? DDP_ERR_USAGE: srun has started them in a way that this
 * build's MPI does not know. */
ddp_status ddp_launcher_check(ddp_launcher launcher, ddp_error *err) DDP_MUST_CHECK;

/* Tasks of the Slurm job of whose batch script, or shell, this process is, and that no srun has
 * started; 0: none. */
int ddp_launcher_idle_tasks(ddp_launcher launcher);

/* CPU cores that this process may run on. */
int ddp_cores(void);

/* May so many ranks be started here? DDP_ERR_USAGE: they are more than 4 for each of this
 * process's cores, and nobody asked for that. From 2 a core on a sentence is printed. */
ddp_status ddp_start_check(int ranks, int oversubscribe, ddp_error *err) DDP_MUST_CHECK;

/* Are they more than 4 for each core? */
int ddp_too_many(int ranks);

#endif
