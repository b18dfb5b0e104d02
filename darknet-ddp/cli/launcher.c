#include "cli/launcher.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* The names are those of Open MPI's mpirun, of PMI, and of Slurm's srun. The
 * SLURM_STEP_ ones exist in a task of srun, not in a batch script. */
static const char *const size_names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                         "SLURM_STEP_NUM_TASKS"};
static const char *const rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};

enum { LAUNCHERS = sizeof size_names / sizeof size_names[0] };

ddp_launcher ddp_launcher_read(void)
{
    for (int i = 0; i < LAUNCHERS; i++) {
        const char *size = getenv(size_names[i]);
        const char *rank = getenv(rank_names[i]);

        if (size && rank)
            return (ddp_launcher){.ranks = (int)strtol(size, NULL, 10),
                                  .rank = (int)strtol(rank, NULL, 10)};
    }
    return (ddp_launcher){0};
}

int ddp_cores(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set))
        return 1;
    return CPU_COUNT(&set);
}

/* More ranks a core than that only wait for each other. */
enum { MANY_RANKS_A_CORE = 4 };

int ddp_too_many(int ranks)
{
    return ranks > MANY_RANKS_A_CORE * ddp_cores();
}

ddp_status ddp_start_check(int ranks, int oversubscribe, ddp_error *err)
{
    int cores = ddp_cores();

    if (ddp_too_many(ranks) && !oversubscribe)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%d ranks on %d core%s are more than %d a core; -ddp_oversubscribe starts "
                        "them all the same",
                        ranks, cores, cores == 1 ? "" : "s", MANY_RANKS_A_CORE);
    if (ranks >= 2 * cores) {
        printf("DDP: %d ranks share %d core%s: they wait for each other\n", ranks, cores,
               cores == 1 ? "" : "s");
        (void)fflush(stdout);
    }
    return DDP_OK;
}
