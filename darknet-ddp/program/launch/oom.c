#include "launch/oom.h"

#include "launch/host_processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number behind `key` in a file of lines such as "VmHWM:   1234 kB"; -1: there is none. */
static int64_t number_in(const char *path, const char *key)
{
    FILE *f = fopen(path, "re");
    char line[256];
    int64_t found = -1;

    while (f && found < 0 && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0)
            found = strtoll(line + strlen(key), NULL, 10);
    if (f)
        (void)fclose(f);
    return found;
}

static int64_t killed_for_memory(void)
{
    return number_in("/proc/vmstat", "oom_kill ");
}

void ddp_oom_open(ddp_oom *m)
{
    memset(m, 0, sizeof *m);
    m->killed_before = killed_for_memory();
}

static void look_at(void *ctx, pid_t pid)
{
    ddp_oom *m = ctx;
    int rank = ddp_rank_of_process(pid), i = 0;
    int64_t kib;
    char path[64];

    if (rank < 0)
        return;
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    kib = number_in(path, "VmHWM:");
    while (i < m->count && m->ranks[i].rank != rank)
        i++;
    if (i == DDP_RANKS_WATCHED || kib < 0)
        return;
    if (i == m->count) {
        m->ranks[m->count].rank = rank;
        m->ranks[m->count++].peak_bytes = 0;
    }
    if (kib * 1024 > m->ranks[i].peak_bytes)
        m->ranks[i].peak_bytes = kib * 1024;
}

void ddp_oom_look(ddp_oom *m, pid_t launcher)
{
    ddp_children_each(launcher, look_at, m);
}

int64_t ddp_oom_peak(const ddp_oom *m, int rank)
{
    for (int i = 0; i < m->count; i++)
        if (m->ranks[i].rank == rank)
            return m->ranks[i].peak_bytes;
    return 0;
}

int ddp_oom_was_short(const ddp_oom *m)
{
    return m->killed_before >= 0 && killed_for_memory() > m->killed_before;
}
