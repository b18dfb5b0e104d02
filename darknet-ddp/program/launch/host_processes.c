#include "launch/host_processes.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void children_of(pid_t parent, const char *thread, void (*each)(void *ctx, pid_t child),
                        void *ctx)
{
    char path[320];
    int child;
    FILE *f;

    (void)snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)parent, thread);
    f = fopen(path, "re");
    while (f && fscanf(f, "%d", &child) == 1)
        each(ctx, (pid_t)child);
    if (f)
        (void)fclose(f);
}

void ddp_children_each(pid_t parent, void (*each)(void *ctx, pid_t child), void *ctx)
{
    char path[64];
    struct dirent *thread;
    DIR *threads;

    (void)snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
    threads = opendir(path);
    while (threads && (thread = readdir(threads)))
        if (thread->d_name[0] != '.')
            children_of(parent, thread->d_name, each, ctx);
    if (threads)
        (void)closedir(threads);
}

int ddp_rank_of_process(pid_t pid)
{
    static const char name[] = "OMPI_COMM_WORLD_RANK=";
    char path[64], text[65536];
    size_t bytes;
    FILE *f;

    (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
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

struct strangers {
    char own[4096]; /* the program of this process */
    char *out;
    size_t size;
};

static void add_stranger(void *ctx, pid_t pid)
{
    struct strangers *s = ctx;
    int rank = ddp_rank_of_process(pid);
    size_t used = strlen(s->out);
    char path[64], program[4096] = "";

    (void)snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    if (rank < 0 || readlink(path, program, sizeof program - 1) < 0 || strcmp(program, s->own) == 0)
        return;
    (void)snprintf(s->out + used, s->size - used, "; rank %d on this host is no darknet: %s", rank,
                   program);
}

void ddp_host_processes_describe_strangers(char *out, size_t size)
{
    struct strangers s = {.out = out, .size = size};

    out[0] = '\0';
    if (readlink("/proc/self/exe", s.own, sizeof s.own - 1) > 0)
        ddp_children_each(getppid(), add_stranger, &s);
}
