/* launch/oom.h: notes the peak memory of ranks of this host, for a message if a signal ends one.
 * Tells whether the kernel has killed a process for want of memory. */
#ifndef DDP_LAUNCH_OOM_H
#define DDP_LAUNCH_OOM_H

#include <stdint.h>
#include <sys/types.h>

enum { DDP_RANKS_WATCHED = 64 };

typedef struct ddp_oom {
    /* number of processes of this host that the kernel killed for want of memory before
     * ddp_oom_open; -1: unknown */
    int64_t killed_before;
    int count; /* number of ranks seen so far */
    struct {
        int rank;
        int64_t peak_bytes; /* peak memory of the rank, as last noted */
    } ranks[DDP_RANKS_WATCHED];
} ddp_oom;

/* Begin to watch: no rank was seen yet. Nothing has to be closed. */
void ddp_oom_open(ddp_oom *m);

/* Note the peak memory of each rank that process `launcher`, Open MPI's mpirun, has started on this
 * host, up to DDP_RANKS_WATCHED ranks. Another mpirun's ranks are not found. Call about once a
 * second. */
void ddp_oom_look(ddp_oom *m, pid_t launcher);

/* Return the peak memory of a rank in bytes, as last noted; 0: not known. */
int64_t ddp_oom_peak(const ddp_oom *m, int rank);

/* Return 1 if the kernel has killed a process of this host for want of memory since ddp_oom_open; 0
 * also if that is not known. */
int ddp_oom_was_short(const ddp_oom *m);

#endif
