#include "launch/launcher_env.h"

#include "comm/group.h"
#include "launch/child.h"
#include "launch/mpirun.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* The names are those of Open MPI's mpirun, of PMI, and of Slurm's srun. The
 * SLURM_STEP_ ones exist in a task of srun, not in a batch script. */
static const char *const size_names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                         "SLURM_STEP_NUM_TASKS"};
static const char *const rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};

enum { LAUNCHERS = sizeof size_names / sizeof size_names[0] };

/* A number in the environment; 0: there is none. */
static int number_of(const char *name)
{
    const char *text = getenv(name);

    return text ? (int)strtol(text, NULL, 10) : 0;
}

/* How many tasks srun has started; 0 where an mpirun has started ranks within one of them. */
static int tasks_of_srun(void)
{
    return getenv(size_names[0]) ? 0 : number_of("SLURM_STEP_NUM_TASKS");
}

/* 1: an mpiexec with PMI has started ranks within a task of srun, which itself sets PMI_SIZE=1 in
 * a task that is alone. */
static int runs_mpiexec(void)
{
    return number_of("PMI_SIZE") > 1 || (getenv("PMI_SIZE") && getenv(DDP_STARTER_VARIABLE));
}

/* The number that a variable was set to by hand; -1 where it is none. */
static int number_by_hand(const char *name)
{
    const char *text = getenv(name);
    char *end = NULL;
    long n = text ? strtol(text, &end, 10) : -1;

    return !end || end == text || *end || n < 0 || n > INT_MAX ? -1 : (int)n;
}

static int is_by_hand(void)
{
    return getenv(DDP_RANK_VARIABLE) || getenv(DDP_RANKS_VARIABLE);
}

static ddp_launcher read_by_hand(void)
{
    int rank = number_by_hand(DDP_RANK_VARIABLE), ranks = number_by_hand(DDP_RANKS_VARIABLE);

    if (rank < 0 || rank >= ranks)
        rank = ranks = 0;
    return (ddp_launcher){.ranks = ranks, .rank = rank, .by_hand = 1};
}

int ddp_launched(ddp_launcher launcher)
{
    return launcher.ranks > 0 && !launcher.by_hand;
}

ddp_launcher ddp_launcher_read(void)
{
    if (is_by_hand())
        return read_by_hand();
    if (tasks_of_srun() == 1 && !runs_mpiexec())
        return (ddp_launcher){0};
    for (int i = 0; i < LAUNCHERS; i++) {
        const char *size = getenv(size_names[i]);
        const char *rank = getenv(rank_names[i]);

        if (size && rank)
            return (ddp_launcher){.ranks = (int)strtol(size, NULL, 10),
                                  .rank = (int)strtol(rank, NULL, 10)};
    }
    return (ddp_launcher){0};
}

void ddp_launcher_forget(void)
{
    for (int i = 0; i < LAUNCHERS; i++) {
        (void)unsetenv(size_names[i]);
        (void)unsetenv(rank_names[i]);
    }
    (void)unsetenv(DDP_RANK_VARIABLE);
    (void)unsetenv(DDP_RANKS_VARIABLE);
}

ddp_status ddp_launcher_check(ddp_launcher launcher, ddp_error *err)
{
    int pmi = ddp_group_mpi_kind() == DDP_MPI_HYDRA && getenv("PMI_RANK");

    if (launcher.ranks <= 1 || tasks_of_srun() == 0 || pmi || getenv("PMIX_NAMESPACE"))
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "srun started %d tasks, and MPI knows nothing of it: srun --mpi=%s tells it",
                    launcher.ranks, ddp_mpirun_srun_mpi());
}

int ddp_launcher_idle_tasks(ddp_launcher launcher)
{
    int tasks = number_of("SLURM_NTASKS");

    return launcher.ranks == 0 && tasks_of_srun() == 0 && getenv("SLURM_JOB_ID") && tasks > 1
               ? tasks
               : 0;
}

int ddp_cores(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set))
        return 1;
    return CPU_COUNT(&set);
}

/* Ranks a core beyond which they only wait for each other. */
enum { MANY_RANKS_A_CORE = 4 };

int ddp_ranks_overload_cores(int ranks)
{
    return ranks > MANY_RANKS_A_CORE * ddp_cores();
}

ddp_status ddp_cores_check(int ranks, int oversubscribe, ddp_error *err)
{
    int cores = ddp_cores();

    if (ddp_ranks_overload_cores(ranks) && !oversubscribe)
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
