/* A rank that fails ends the whole job, soon and with a failure.
 *
 * Rank 0 starts jobs of its own, of as many ranks, and looks at the launcher's
 * exit status. In one the last rank aborts while the others wait for it; in another
 * it sleeps, and the others' waits run out of time; in a third its sum is shorter
 * than theirs, which MPI takes for a whole one without a word. */
#include "base/clock.h"
#include "comm/collectives.h"
#include "comm/group.h"
#include "comm/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A machine that does other things, too, may take a minute to start a job and to end it. */
enum { SLEEP_S = 1000, SOON_S = 300 };

extern char **environ;

static int last_rank_aborts(ddp_group *g)
{
    ddp_error err;

    if (ddp_group_rank(g) == ddp_group_size(g) - 1)
        ddp_group_abort(g, 5);
    if (ddp_barrier(g, &err))
        (void)fprintf(stderr, "%s\n", err.text);
    ddp_group_close(g);
    return 0;
}

static int last_rank_sleeps(ddp_group *g)
{
    ddp_error err;
    int failed;

    if (ddp_group_rank(g) == ddp_group_size(g) - 1)
        (void)sleep(SLEEP_S);
    ddp_group_set_timeout(g, 500000000);
    failed = ddp_barrier(g, &err) != DDP_OK;
    if (failed)
        (void)fprintf(stderr, "%s\n", err.text);
    ddp_group_close(g);
    return failed ? 6 : 0;
}

static int last_rank_sends_less(ddp_group *g)
{
    int last = ddp_group_size(g) - 1, me = ddp_group_rank(g);
    float numbers[8] = {0};
    char want[64];
    ddp_work *w;
    ddp_error err = {.text = ""};

    (void)snprintf(want, sizeof want, "rank %d sent 28 bytes where 32 are due", last);
    ddp_group_set_timeout(g, (int64_t)60 * 1000000000);
    if (ddp_allreduce_open(&w, g, numbers, me == last ? 7 : 8, &err) || ddp_work_start(w, &err))
        return 0;
    if (me > 0)
        (void)sleep(SLEEP_S);
    if (ddp_work_wait(w, &err))
        (void)fprintf(stderr, "%s\n", err.text);
    ddp_group_abort(g, strstr(err.text, want) ? 7 : 8);
    return 0;
}

static int be_the_job(const char *what)
{
    ddp_error err;
    ddp_group *g;

    if (ddp_group_open(&g, "mpi", &err)) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 0; /* not the failure that is asked for */
    }
    if (strcmp(what, "--short") == 0)
        return last_rank_sends_less(g);
    return strcmp(what, "--abort") == 0 ? last_rank_aborts(g) : last_rank_sleeps(g);
}

/* The inner job must not take itself for a part of the outer one. */
static void forget_the_launcher(void)
{
    char name[256];
    char **e = environ;

    while (*e) {
        if (strncmp(*e, "OMPI_", 5) != 0 && strncmp(*e, "PMIX_", 5) != 0
            && strncmp(*e, "ORTE_", 5) != 0 && strncmp(*e, "PRTE_", 5) != 0) {
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

static int run_job(const char *program, const char *size, const char *what)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        forget_the_launcher();
        (void)execlp("mpirun", "mpirun", "--oversubscribe", "--bind-to", "none", "-n", size,
                     program, what, (char *)NULL);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static int job_fails_soon(const char *program, const char *size, const char *what, int want)
{
    int64_t start = ddp_clock_ns();
    int status = run_job(program, size, what);
    double elapsed = (double)(ddp_clock_ns() - start) / 1e9;

    (void)fprintf(stderr, "%s ranks, %s: exit status %d after %.1f s\n", size, what, status,
                  elapsed);
    return status == want && elapsed < SOON_S;
}

int main(int argc, char **argv)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");

    if (argc > 1)
        return be_the_job(argv[1]);
    if (!rank || !size || strcmp(rank, "0") != 0)
        return 0;
    if (!job_fails_soon(argv[0], size, "--abort", 5))
        return 1;
    if (strcmp(size, "1") == 0)
        return 0;
    return !job_fails_soon(argv[0], size, "--sleep", 6)
           || !job_fails_soon(argv[0], size, "--short", 7);
}
