/* base/memory_room.h: finds out how much memory this process has, and how much more it may take. */
#ifndef DDP_BASE_MEMORY_ROOM_H
#define DDP_BASE_MEMORY_ROOM_H

#include <stddef.h>

typedef struct ddp_memory_room {
    size_t left; /* bytes that may still be taken; SIZE_MAX: not known */
    /* 1: all processes of the machine or cgroup share `left`; 0: this process has it alone */
    int is_shared;
    const char *limit; /* the limit that is met first, as "its cgroup's memory.max"; static text */
} ddp_memory_room;

/* Return how much memory this process may still take, by the limit that leaves least:
 *  - memory and swap of this machine (/proc/meminfo)
 *  - memory of each cgroup that holds this process; swap, too, if the cgroup is of version 2
 *  - RLIMIT_AS
 * Memory of cached files counts as left. */
ddp_memory_room ddp_memory_room_now(void);

/* Return how many bytes this process has in memory and in swap, without pages of files on disk;
 * 0 if /proc does not tell. */
size_t ddp_memory_resident(void);

#endif
