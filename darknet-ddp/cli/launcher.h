/* cli/launcher.h: who started this process, and how many ranks its host takes. */
#ifndef DDP_CLI_LAUNCHER_H
#define DDP_CLI_LAUNCHER_H

#include "base/status.h"

typedef struct ddp_launcher {
    int ranks; /* that the launcher says it started; 0: no launcher */
    int rank;  /* of this process; 0 without a launcher */
} ddp_launcher;

/* Read what mpirun (Open MPI, any PMIx) or srun left in the environment. */
ddp_launcher ddp_launcher_read(void);

/* CPU cores that this process may run on. */
int ddp_cores(void);

/* May so many ranks be started here? DDP_ERR_USAGE: they are more than 4 for each of this
 * process's cores, and nobody asked for that. From 2 a core on a sentence is printed. */
ddp_status ddp_start_check(int ranks, int oversubscribe, ddp_error *err) DDP_MUST_CHECK;

/* Are they more than 4 for each core? */
int ddp_too_many(int ranks);

#endif
