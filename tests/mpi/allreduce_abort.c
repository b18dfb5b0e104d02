/* ddp_group_abort ends the whole job, soon and with a failure.
 *
 * Rank 0 starts a job of its own, of as many ranks, in which the last rank
 * aborts while the others wait for it, and looks at the launcher's exit status. */
#include "base/clock.h"
#include "comm/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int abort_a_job(void)
{
    ddp_error err;
    ddp_group *g;

    if (ddp_group_open(&g, "mpi", &err))
        return 0; /* not the failure that is asked for */
    if (ddp_group_rank(g) == ddp_group_size(g) - 1)
        ddp_group_abort(g, 5);
    if (ddp_barrier(g, &err))
        (void)fprintf(stderr, "%s\n", err.text);
    ddp_group_close(g);
    return 0;
}

/* The inner job must not take itself for a part of the outer one. */
static void forget_the_launcher(void)
{
    char name[256];
    char **e = environ;

    while (*e) {
        if (strncmp(*e, "OMPI_", 5) != 0 && strncmp(*e, "PMIX_", 5) != 0 &&
            strncmp(*e, "ORTE_", 5) != 0) {
            e++;
            continue;
        }
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(*e, "="), *e);
        (void)unsetenv(name);
        e = environ;
    }
    (void)setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    (void)setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    (void)setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1);
}

static int run_job(const char *program, const char *size)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        forget_the_launcher();
        (void)execlp("mpirun", "mpirun", "--oversubscribe", "--bind-to", "none", "-q", "-n", size,
                     program, "--abort", (char *)NULL);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

int main(int argc, char **argv)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    int64_t start = ddp_clock_ns();
    double elapsed;
    int status;

    if (argc > 1)
        return abort_a_job();
    if (!rank || !size || strcmp(rank, "0") != 0)
        return 0;
    status = run_job(argv[0], size);
    elapsed = (double)(ddp_clock_ns() - start) / 1e9;
    (void)fprintf(stderr, "%s ranks: exit status %d after %.1f s\n", size, status, elapsed);
    return status != 5 || elapsed > 20;
}
