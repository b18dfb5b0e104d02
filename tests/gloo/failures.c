/* Failures of ranks that Gloo connects: each ends soon, and names who is the cause. Ranks are
 * processes that meet by files, without MPI. Exit status 77: this build has no Gloo. */
#include "comm/collectives.h"
#include "comm/group.h"
#include "transport/rendezvous.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_RANKS = 4 };

static const int64_t second = INT64_C(1000000000);
static int word[2];  /* a pipe between ranks, beside Gloo */
static pid_t *ranks; /* shared by all */

/* Returns 1, and says so, where the error is not this one. */
static int is_wrong(const ddp_group *g, ddp_status st, const ddp_error *err, const char *want)
{
    if (st == DDP_ERR_COMM && strstr(err->text, want))
        return 0;
    (void)fprintf(stderr, "rank %d: '%s' is due, and it is '%s'\n", ddp_group_rank(g), want,
                  st ? err->text : "no error");
    return 1;
}

static int lost(const ddp_group *g, ddp_status st, const ddp_error *err, int rank)
{
    char want[64];

    (void)snprintf(want, sizeof want, "connection with rank %d (host ", rank);
    return is_wrong(g, st, err, want);
}

/* Until every rank has come here, or is gone. */
static void stay_with_the_others(void)
{
    char nothing;

    (void)close(word[1]);
    while (read(word[0], &nothing, 1) > 0)
        ;
}

/* Who has seen the end of rank 1 stays until all have: its own end would be another reason. */
static int a_rank_that_is_gone_is_named_by_all(ddp_group *g)
{
    ddp_error err = {.text = ""};
    ddp_status st = ddp_barrier(g, &err);
    int wrong;

    if (!st && ddp_group_rank(g) == 1)
        _exit(0); /* as if it were killed; what it still had to say in the barrier is lost, too */
    if (!st)
        st = ddp_barrier(g, &err);
    wrong = lost(g, st, &err, 1);
    stay_with_the_others();
    return wrong;
}

static int a_message_of_another_length_is_named(ddp_group *g)
{
    size_t bytes = ddp_group_rank(g) == 0 ? 4 : 8;
    char data[8] = "";
    ddp_error err = {.text = ""};
    ddp_status st = ddp_broadcast(g, data, bytes, 0, &err);

    if (ddp_group_rank(g) > 0)
        return is_wrong(g, st, &err, "it sent 4 bytes where 8 are due");
    return st == DDP_OK; /* somebody has not taken it */
}

/* One that has ended, for an error of its own, would never stop. */
static void stop(pid_t process)
{
    char path[64], state = 0;

    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    for (int sent = process > 0 ? kill(process, SIGSTOP) : -1; sent == 0 && state != 'T';) {
        FILE *f = fopen(path, "re");

        if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
            exit(1);
        if (state == 'Z' || state == 'X')
            exit(1);
        (void)fclose(f);
    }
}

/* Rank 0 is the cause, and rank 1, which tells of it, ends at once; rank 2 hears both at a time,
 * for it stood still. So does rank 0 then, or it would tell of rank 1. */
static int the_cause_is_named_and_not_who_ends_for_it(ddp_group *g)
{
    char data[8] = "";
    ddp_error err = {.text = ""};
    ddp_status st;
    int wrong;

    if (ddp_group_rank(g) == 2)
        return write(word[1], data, 1) != 1 || lost(g, ddp_barrier(g, &err), &err, 0);
    if (ddp_group_rank(g) == 1 && read(word[0], data, 1) == 1)
        stop(ranks[2]);
    st = ddp_transfer(g, data, ddp_group_rank(g) == 0 ? 4 : 8, 0, 1, &err);
    if (ddp_group_rank(g) == 0)
        return st == DDP_OK;
    wrong = is_wrong(g, st, &err, "it sent 4 bytes where 8 are due");
    stop(ranks[0]);
    _exit(wrong);
}

/* Rank 0 stays until rank 1 has waited in vain: its end would be another reason. */
static int who_says_nothing_is_named(ddp_group *g)
{
    char data = 0;
    ddp_error err = {.text = ""};
    int wrong;

    ddp_group_set_timeout(g, second / 2);
    if (ddp_group_rank(g) == 0) {
        (void)close(word[1]);
        return read(word[0], &data, 1) != 1;
    }
    wrong = is_wrong(g, ddp_broadcast(g, &data, 1, 0, &err), &err, "no message from rank 0 (host ");
    return write(word[1], "", 1) != 1 || wrong;
}

/* The last message of a rank may still travel when another is done. */
static int all_leave_in_peace(ddp_group *g)
{
    ddp_error err = {.text = ""};
    int bad = 0;

    for (int i = 0; i < 50; i++)
        bad += ddp_barrier(g, &err) != DDP_OK;
    if (bad)
        (void)fprintf(stderr, "rank %d: %s\n", ddp_group_rank(g), err.text);
    return bad;
}

static int be_rank(const char *path, int rank, int size, int (*body)(ddp_group *g))
{
    const ddp_rendezvous_config config = {path, rank, size, 120 * second};
    ddp_error err;
    ddp_group *g;
    int bad;

    ddp_group_use_rendezvous(&config);
    if (ddp_group_open(&g, "gloo", &err)) {
        (void)fprintf(stderr, "rank %d: %s\n", rank, err.text);
        return 1;
    }
    ddp_group_set_timeout(g, 120 * second);
    bad = body(g);
    ddp_group_close(g);
    return bad;
}

static int run(const char *name, int size, int (*body)(ddp_group *g))
{
    char folder[] = "/tmp/darknet-gloo.XXXXXX", path[64];
    int bad = 0, status = -1;

    if (!mkdtemp(folder) || pipe(word))
        return 1;
    (void)snprintf(path, sizeof path, "%s/meet", folder);
    for (int r = 0; r < size; r++) {
        pid_t pid = fork();

        ranks[r] = pid ? pid : getpid();
        if (pid == 0)
            _exit(be_rank(path, r, size, body));
    }
    (void)close(word[0]);
    (void)close(word[1]);
    for (int i = 1; i <= size; i++) { /* rank 0 last, and whoever has been stopped goes on */
        int r = i % size;

        if (ranks[r] < 0 || kill(ranks[r], SIGCONT) || waitpid(ranks[r], &status, 0) != ranks[r]
            || status != 0) {
            (void)fprintf(stderr, "rank %d ended with status %#x\n", r, (unsigned)status);
            bad++;
        }
    }
    if (rmdir(folder)) {
        (void)fprintf(stderr, "%s is not empty\n", folder);
        bad++;
    }
    printf("%s, %d ranks: %s\n", name, size, bad ? "FAILED" : "ok");
    return bad;
}

int main(void)
{
    int bad = 0;

    if (!ddp_group_has("gloo")) {
        printf("this build has no Gloo\n");
        return 77;
    }
    ranks = mmap(NULL, MOST_RANKS * sizeof *ranks, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ranks == MAP_FAILED)
        return 1;
    (void)setvbuf(stdout, NULL, _IONBF, 0);
    for (int size = 2; size <= MOST_RANKS; size++) {
        bad +=
            run("a rank that is gone is named by all", size, a_rank_that_is_gone_is_named_by_all);
        bad += run("all leave in peace", size, all_leave_in_peace);
    }
    bad += run("a message of another length is named", 2, a_message_of_another_length_is_named);
    for (int i = 0; i < 20; i++) /* it takes chance to see another named */
        bad += run("the cause is named, and not who ends for it", 3,
                   the_cause_is_named_and_not_who_ends_for_it);
    bad += run("who says nothing is named", 2, who_says_nothing_is_named);
    return bad != 0;
}
