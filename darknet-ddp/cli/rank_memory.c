#include "cli/rank_memory.h"

#include <dirent.h>
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

void ddp_rank_memory_open(ddp_rank_memory *m)
{
    memset(m, 0, sizeof *m);
    m->killed_before = killed_for_memory();
}

/* As mpirun told the process; -1: not a rank. */
static int rank_of(long pid)
{
    static const char name[] = "OMPI_COMM_WORLD_RANK=";
    char path[64], text[65536];
    size_t bytes;
    FILE *f;

    (void)snprintf(path, sizeof path, "/proc/%ld/environ", pid);
    f = fopen(path, "re");
    if (!f)
        return -1;
    bytes = fread(text, 1, sizeof text - 1, f);
    (void)fclose(f);
    text[bytes] = '\0';
    for (const char *at = text; at < text + bytes; at += strlen(at) + 1)
        if (strncmp(at, name, sizeof name - 1) == 0)
            return (int)strtol(at + sizeof name - 1, NULL, 10);
    return -1;
}

static void look_at(ddp_rank_memory *m, long pid)
{
    int rank = rank_of(pid), i = 0;
    int64_t kib;
    char path[64];

    if (rank < 0)
        return;
    (void)snprintf(path, sizeof path, "/proc/%ld/status", pid);
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

static void look_at_children(ddp_rank_memory *m, pid_t launcher, const char *thread)
{
    char path[320];
    long pid;
    FILE *f;

    (void)snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)launcher, thread);
    f = fopen(path, "re");
    while (f && fscanf(f, "%ld", &pid) == 1)
        look_at(m, pid);
    if (f)
        (void)fclose(f);
}

void ddp_rank_memory_look(ddp_rank_memory *m, pid_t launcher)
{
    char path[64];
    struct dirent *thread;
    DIR *threads;

    (void)snprintf(path, sizeof path, "/proc/%d/task", (int)launcher);
    threads = opendir(path);
    while (threads && (thread = readdir(threads)))
        if (thread->d_name[0] != '.')
            look_at_children(m, launcher, thread->d_name);
    if (threads)
        (void)closedir(threads);
}

int64_t ddp_rank_memory_peak(const ddp_rank_memory *m, int rank)
{
    for (int i = 0; i < m->count; i++)
        if (m->ranks[i].rank == rank)
            return m->ranks[i].peak_bytes;
    return 0;
}

int ddp_rank_memory_was_short(const ddp_rank_memory *m)
{
    return m->killed_before >= 0 && killed_for_memory() > m->killed_before;
}
