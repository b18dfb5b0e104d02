/* launch/oom.h: how much memory each rank of this host has had, for when the kernel ends it.
 */
#ifndef DDP_LAUNCH_OOM_H
#define DDP_LAUNCH_OOM_H

#include <stdint.h>
#include <sys/types.h>

enum { DDP_RANKS_WATCHED = 64 };

typedef struct ddp_rank_memory {
    int64_t
        killed_before; /* processes that the kernel had ended for want of memory; -1: not known */
    int count;
    struct {
        int rank;
        int64_t peak_bytes;
    } ranks[DDP_RANKS_WATCHED];
} ddp_rank_memory;

void ddp_rank_memory_open(ddp_rank_memory *m);

/* Look at the ranks that mpirun, the process `launcher`, has started here; once a second, say. A
 * few small files of /proc each. */
void ddp_rank_memory_look(ddp_rank_memory *m, pid_t launcher);

/* The most that was seen of a rank, in bytes; 0: not known. */
int64_t ddp_rank_memory_peak(const ddp_rank_memory *m, int rank);

/* Has the kernel ended any process of this machine for want of memory since opening? */
int ddp_rank_memory_was_short(const ddp_rank_memory *m);

#endif
