/* launch/oom.h: notes how much memory each rank of this host uses, for a message if the kernel ends
 * it. */
#ifndef DDP_LAUNCH_OOM_H
#define DDP_LAUNCH_OOM_H

#include <stdint.h>
#include <sys/types.h>

enum { DDP_RANKS_WATCHED = 64 };

typedef struct ddp_oom {
    /* processes of this host that the kernel had ended for want of memory before ddp_oom_open;
     * -1: unknown */
    int64_t killed_before;
    int count; /* ranks seen so far */
    struct {
        int rank;
        int64_t peak_bytes; /* most memory that the rank was seen to have had */
    } ranks[DDP_RANKS_WATCHED];
} ddp_oom;

/* Begin to watch: no rank was seen yet. Nothing has to be closed. */
void ddp_oom_open(ddp_oom *m);

/* Note the peak memory of the ranks that `launcher`, an mpirun, has started on this host: of the
 * first DDP_RANKS_WATCHED that are seen. Call it about once a second; it reads a few small files of
 * /proc for each. */
void ddp_oom_look(ddp_oom *m, pid_t launcher);

/* Return the most memory that a rank was seen to have had, in bytes; 0: not known. */
int64_t ddp_oom_peak(const ddp_oom *m, int rank);

/* Return 1 if the kernel has ended a process of this host for want of memory since ddp_oom_open. */
int ddp_oom_was_short(const ddp_oom *m);

#endif
