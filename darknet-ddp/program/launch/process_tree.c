#include "launch/process_tree.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 300, PAUSE_US = 10000 };

struct process {
    pid_t pid, parent;
    int ours;
};

void ddp_become_subreaper(void)
{
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* The parent of a process; 0 where the process has ended meanwhile. */
static pid_t parent_of(pid_t pid)
{
    char path[32], text[512], *behind;
    size_t size;
    FILE *f;
    int parent = 0;

    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    f = fopen(path, "re");
    if (!f)
        return 0;
    size = fread(text, 1, sizeof text - 1, f);
    (void)fclose(f);
    text[size] = '\0';
    behind = strrchr(text, ')'); /* the name may hold anything */
    if (!behind || sscanf(behind, ") %*c %d", &parent) != 1)
        return 0;
    return (pid_t)parent;
}

/* All processes there are; *list belongs to the caller. */
static size_t list_processes(struct process **list)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    size_t count = 0, room = 0;

    *list = NULL;
    while (proc && (entry = readdir(proc))) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

        if (pid <= 0)
            continue;
        if (count == room) {
            struct process *more = realloc(*list, (room + 256) * sizeof **list);

            if (!more)
                break;
            *list = more;
            room += 256;
        }
        (*list)[count++] = (struct process){.pid = pid, .parent = parent_of(pid)};
    }
    if (proc)
        (void)closedir(proc);
    return count;
}

static int is_ours(const struct process *list, size_t count, pid_t parent)
{
    if (parent == getpid())
        return 1;
    for (size_t i = 0; i < count; i++)
        if (list[i].pid == parent)
            return list[i].ours;
    return 0;
}

/* Mark our descendants. Parents may stand behind their children in the list, so it is gone through
 * until no process is added. */
static void mark_ours(struct process *list, size_t count)
{
    int added = 1;

    while (added) {
        added = 0;
        for (size_t i = 0; i < count; i++)
            if (!list[i].ours && is_ours(list, count, list[i].parent))
                added = list[i].ours = 1;
    }
}

void ddp_process_tree_each(void (*each)(void *ctx, pid_t pid), void *ctx)
{
    struct process *list;
    size_t count = list_processes(&list);

    mark_ours(list, count);
    for (size_t i = 0; i < count; i++)
        if (list[i].ours)
            each(ctx, list[i].pid);
    free(list);
}

static void kill_one(void *ctx, pid_t pid)
{
    (void)ctx;
    (void)kill(pid, SIGKILL);
}

/* A process that is killed while it starts another leaves that one to us: hence several rounds. */
void ddp_process_tree_kill(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        pid_t ended;

        do
            ended = waitpid(-1, NULL, WNOHANG);
        while (ended > 0);
        if (ended < 0)
            return; /* there are no children */
        if (i % 10 == 0)
            ddp_process_tree_each(kill_one, NULL);
        (void)usleep(PAUSE_US);
    }
}

/* Does the process run the same file as this one, which may have been replaced under its name? */
static int runs_this_program(pid_t pid)
{
    struct stat own, other;
    char path[32];

    (void)snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    return stat("/proc/self/exe", &own) == 0 && stat(path, &other) == 0
           && own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

struct signalled {
    int number, sent;
};

static void signal_rank(void *ctx, pid_t pid)
{
    struct signalled *s = ctx;

    if (runs_this_program(pid))
        s->sent += kill(pid, s->number) == 0;
}

/* Is the signal in a set of /proc/PID/status, named as there? */
static int is_in_set(pid_t pid, const char *set, int number)
{
    char path[32], line[256];
    int found = 0;
    FILE *f;

    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, set, strlen(set)) == 0)
            found = (int)(strtoull(line + strlen(set), NULL, 16) >> (number - 1) & 1);
    if (f)
        (void)fclose(f);
    return found;
}

static int handles(pid_t pid, int number)
{
    return is_in_set(pid, "SigCgt:", number);
}

int ddp_process_has_pending(pid_t pid, int number)
{
    return is_in_set(pid, "ShdPnd:", number);
}

static void ask_rank(void *ctx, pid_t pid)
{
    struct signalled *s = ctx;

    if (s->sent == 0 && handles(pid, s->number))
        signal_rank(ctx, pid);
}

int ddp_process_tree_signal(int number)
{
    struct signalled s = {.number = number};

    ddp_process_tree_each(signal_rank, &s);
    return s.sent;
}

int ddp_process_tree_signal_one(int number)
{
    struct signalled s = {.number = number};

    ddp_process_tree_each(ask_rank, &s);
    return s.sent;
}
