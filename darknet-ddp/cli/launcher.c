#include "cli/launcher.h"

#include "cli/resume_command.h"
#include "cli/spawn.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The one that the build found beside its MPI: another in PATH may be of another MPI. */
static const char mpirun[] = DDP_MPIRUN;

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

static int too_many(int ranks)
{
    return ranks > MANY_RANKS_A_CORE * ddp_cores();
}

ddp_status ddp_start_check(int ranks, int oversubscribe, ddp_error *err)
{
    int cores = ddp_cores();

    if (too_many(ranks) && !oversubscribe)
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

/* To mpirun it ends one program's line and begins another's. */
static ddp_status check_words(char **argv, ddp_error *err)
{
    for (; *argv; argv++)
        if (strcmp(*argv, ":") == 0)
            return ddp_fail(err, DDP_ERR_USAGE,
                            "':' alone would make mpirun start a second program; a file of that "
                            "name is ./:");
    return DDP_OK;
}

/* Where no rank lived to say it. */
static void say_how_to_go_on(char **argv)
{
    char *command = ddp_resume_command_of(argv);
    char *text = ddp_resume_advice(command, "the last checkpoint, if one was saved");

    if (text)
        (void)fprintf(stderr, "darknet: %s\n", text);
    free(text);
    free(command);
}

ddp_status ddp_start_ranks(int ranks, char **argv, ddp_error *err)
{
    int threads = ddp_cores() / ranks;
    ddp_ended ended;
    ddp_error cause;
    char np[16], text[16], program[PATH_MAX] = "";
    size_t count = 0, used = 0;
    const char **args;

    if (!*mpirun)
        return ddp_fail(err, DDP_ERR_USAGE, "this darknet was built without MPI: it has one rank");
    if (check_words(argv, err))
        return err->code;
    while (argv[count])
        count++;
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0)
        return ddp_fail(err, DDP_ERR_IO, "cannot find the path of this program: %s",
                        strerror(errno));
    args = calloc(count + 16, sizeof *args);
    if (!args)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a command line");
    (void)snprintf(np, sizeof np, "%d", ranks);
    (void)snprintf(text, sizeof text, "%d", threads > 0 ? threads : 1);
    (void)setenv("OMP_NUM_THREADS", text, 0);

    args[used++] = mpirun;
    args[used++] = "-np";
    args[used++] = np;
    /* Loader threads run beside the rank: binding to one core would starve them. */
    args[used++] = "--bind-to";
    args[used++] = "none";
    args[used++] = "--oversubscribe";
    if (geteuid() == 0)
        args[used++] = "--allow-run-as-root";
    args[used++] = program;
    for (size_t i = 1; i < count; i++)
        args[used++] = argv[i];
    if (ddp_spawn(args, !too_many(ranks), &ended, &cause)) {
        free(args);
        return ddp_fail(err, DDP_ERR_IO, "%s; install openmpi-bin, or start the ranks yourself",
                        cause.text);
    }
    if (ended.failed && ended.trained && !ended.advised)
        say_how_to_go_on(argv);
    exit(ended.status);
}
