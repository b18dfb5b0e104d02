/* base/memory_room.h: how much memory this process may still take. */
#ifndef DDP_BASE_MEMORY_ROOM_H
#define DDP_BASE_MEMORY_ROOM_H

#include <stddef.h>

typedef struct ddp_memory_room {
    size_t left;   /* bytes that may still be taken; SIZE_MAX: not known */
    int is_shared; /* 1: all processes of the machine or cgroup share `left`; 0: it is this one's */
    const char *limit; /* the limit that is met first, as "its cgroup's memory.max"; static text */
} ddp_memory_room;

/* Return how much memory this process may still take. Three limits count, and the least is
 * returned: memory and swap of this machine (/proc/meminfo), of each cgroup that holds this process
 * (version 1 or 2), and RLIMIT_AS. Memory of cached files counts as left. A cgroup's free swap
 * counts in version 2, not in version 1. */
ddp_memory_room ddp_memory_room_now(void);

/* Return how many bytes this process has in memory and in swap, without pages of files. */
size_t ddp_memory_resident(void);

#endif
