/* launch/oom.h: how much memory each rank of this host has had, for when the kernel ends it.
 */
#ifndef DDP_LAUNCH_OOM_H
#define DDP_LAUNCH_OOM_H

#include <stdint.h>
#include <sys/types.h>

enum { DDP_RANKS_WATCHED = 64 };

typedef struct ddp_oom {
    int64_t
        killed_before; /* processes that the kernel had ended for want of memory; -1: not known */
    int count;
    struct {
        int rank;
        int64_t peak_bytes;
    } ranks[DDP_RANKS_WATCHED];
} ddp_oom;

void ddp_oom_open(ddp_oom *m);

/* Look at the ranks that mpirun, the process `launcher`, has started here; once a second, say. A
 * few small files of /proc each. */
void ddp_oom_look(ddp_oom *m, pid_t launcher);

/* The most that was seen of a rank, in bytes; 0: not known. */
int64_t ddp_oom_peak(const ddp_oom *m, int rank);

/* Has the kernel ended any process of this machine for want of memory since opening? */
int ddp_oom_was_short(const ddp_oom *m);

#endif
