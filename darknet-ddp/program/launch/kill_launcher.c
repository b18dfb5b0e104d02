#include "launch/kill_launcher.h"

#include "launch/resume_command.h"
#include "launch/supervisor.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_S = 10, STAT_BYTES = 512, FDS = 1024, STARTED = 21 };

/* When a process began, as text into out: another of the same number began at another time. Safe
 * behind fork. Returns its length; 0: there is none. */
static size_t read_start(const char *stat, char *out)
{
    char text[STAT_BYTES];
    int fd = open(stat, O_RDONLY | O_CLOEXEC), blanks = 0;
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text);
    size_t used = 0;

    if (fd >= 0)
        (void)close(fd);
    for (ssize_t i = 0; i < n; i++) { /* an mpirun's name has no blanks */
        blanks += text[i] == ' ';
        if (blanks == STARTED)
            out[used++] = text[i];
    }
    return used;
}

static void wait_and_kill(pid_t launcher, const char *stat) __attribute__((noreturn));

static void wait_and_kill(pid_t launcher, const char *stat)
{
    char before[STAT_BYTES], now[STAT_BYTES];
    size_t known = read_start(stat, before);

    (void)setsid(); /* mpirun kills its ranks' groups */
    for (int fd = 0; fd < FDS; fd++)
        (void)close(fd); /* the pipes to mpirun are to end */
    (void)sleep(PATIENCE_S);
    if (known > 0 && read_start(stat, now) == known && memcmp(before, now, known) == 0)
        (void)kill(launcher, SIGKILL);
    _exit(0);
}

void ddp_kill_launcher_later(int alone)
{
    pid_t launcher = getppid();
    char stat[64];

    if (!(alone && ddp_is_mpiruns_daemon(launcher))
        && (ddp_supervisor_is_ours() || !ddp_is_mpirun(launcher)))
        return;
    (void)snprintf(stat, sizeof stat, "/proc/%d/stat", (int)launcher);
    if (fork() == 0)
        wait_and_kill(launcher, stat);
}
