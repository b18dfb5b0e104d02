#include "base/memory_room.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Return the number behind a key at the beginning of a line of a file, or `otherwise`. An empty key
 * stands for the file's first line. */
static size_t number_in(const char *path, const char *key, size_t otherwise)
{
    FILE *in = fopen(path, "r");
    size_t length = strlen(key), found = otherwise;
    char line[256], *end;

    while (in && fgets(line, sizeof line, in)) {
        unsigned long long number;

        if (strncmp(line, key, length) != 0 || (length && !strchr(": \t", line[length])))
            continue;
        number = strtoull(line + length + (line[length] == ':'), &end, 10);
        if (end != line + length && (*end == '\n' || *end == ' '))
            found = (size_t)number;
        break;
    }
    if (in)
        (void)fclose(in);
    return found;
}

static size_t kilobytes(const char *path, const char *key)
{
    return number_in(path, key, 0) * 1024;
}

static size_t less(size_t a, size_t b)
{
    return a > b ? a - b : 0;
}

static void take_least(ddp_memory_room *room, size_t left, int is_shared, const char *limit)
{
    if (left < room->left)
        *room = (ddp_memory_room){left, is_shared, limit};
}

/* ---- cgroups ---- */

/* The files of a version of cgroups. */
struct cgroup_files {
    const char *line;                    /* what stands before the path in /proc/self/cgroup */
    const char *mount;                   /* where the root of its cgroups is */
    const char *most, *used, *cached[3]; /* of cached NULL: no more */
    const char *swap_most, *swap_used;   /* NULL: swap counts as memory */
    const char *limit;
};

static const struct cgroup_files versions[] = {
    {"0::",
     "/sys/fs/cgroup",
     "memory.max",
     "memory.current",
     {"inactive_file", "active_file", "slab_reclaimable"},
     "memory.swap.max",
     "memory.swap.current",
     "its cgroup's memory.max"},
    {":memory:",
     "/sys/fs/cgroup/memory",
     "memory.limit_in_bytes",
     "memory.usage_in_bytes",
     {"total_inactive_file", "total_active_file", NULL},
     NULL,
     NULL,
     "its cgroup's memory.limit_in_bytes"},
};

static size_t number_of(const char *folder, const char *file, const char *key, size_t otherwise)
{
    char path[2 * PATH_MAX + 64];

    (void)snprintf(path, sizeof path, "%s/%s", folder, file);
    return number_in(path, key, otherwise);
}

static void look_at_cgroup(ddp_memory_room *room, const struct cgroup_files *v, const char *folder,
                           size_t machine_swap)
{
    size_t most = number_of(folder, v->most, "", SIZE_MAX), swap = 0;
    size_t used = number_of(folder, v->used, "", 0);

    if (most == SIZE_MAX)
        return;
    for (int i = 0; i < 3 && v->cached[i]; i++)
        used = less(used, number_of(folder, "memory.stat", v->cached[i], 0));
    if (v->swap_most) {
        swap = less(number_of(folder, v->swap_most, "", SIZE_MAX),
                    number_of(folder, v->swap_used, "", 0));
        swap = swap < machine_swap ? swap : machine_swap;
    }
    take_least(room, less(most, used) + swap, 1, v->limit);
}

/* Look at the cgroup that holds this process, and at each that holds that one. In a container the
 * path may be one of the host, which is not there: then the root is the container's. */
static void look_at_cgroups(ddp_memory_room *room, const struct cgroup_files *v, size_t swap)
{
    FILE *in = fopen("/proc/self/cgroup", "r");
    char line[PATH_MAX], folder[2 * PATH_MAX];

    while (in && fgets(line, sizeof line, in)) {
        char *path = strstr(line, v->line), *slash;
        size_t root = strlen(v->mount);

        if (!path || (v->line[0] == '0' && path != line))
            continue;
        path += strlen(v->line);
        path[strcspn(path, "\n")] = '\0';
        (void)snprintf(folder, sizeof folder, "%s%s", v->mount, path);
        do {
            look_at_cgroup(room, v, folder, swap);
            slash = strrchr(folder, '/');
            *slash = '\0';
        } while (strlen(folder) >= root);
    }
    if (in)
        (void)fclose(in);
}

/* ---- all ---- */

ddp_memory_room ddp_memory_room_now(void)
{
    size_t swap = kilobytes("/proc/meminfo", "SwapFree");
    size_t free = number_in("/proc/meminfo", "MemAvailable", SIZE_MAX);
    ddp_memory_room room = {SIZE_MAX, 1, "this machine's free memory"};
    struct rlimit limit;

    if (free != SIZE_MAX)
        room.left = free * 1024 + swap;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        look_at_cgroups(&room, &versions[i], swap);
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        take_least(&room, less((size_t)limit.rlim_cur, kilobytes("/proc/self/status", "VmSize")), 0,
                   "ulimit -v");
    return room;
}

size_t ddp_memory_resident(void)
{
    static const char path[] = "/proc/self/status";

    return kilobytes(path, "RssAnon") + kilobytes(path, "RssShmem") + kilobytes(path, "VmSwap");
}
