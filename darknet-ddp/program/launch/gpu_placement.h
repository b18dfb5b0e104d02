/* launch/gpu_placement.h: which GPU each rank computes on.
 *
 * Each rank chooses by what it was asked for, its place among the ranks of its host and how
 * many GPUs it sees. Then all ranks compare what they chose: launchers may show each rank other
 * GPUs under the same numbers. Nothing here asks a GPU. */
#ifndef DDP_LAUNCH_GPU_PLACEMENT_H
#define DDP_LAUNCH_GPU_PLACEMENT_H

#include "base/status.h"
#include "options/gpu_list.h"

/* The GPUs that the command line asks for: by -gpus, or by -i. */
typedef struct ddp_gpu_wish {
    ddp_gpu_list list; /* GPUs of -gpus; empty: not given */
    int gpu;           /* the GPU of -i; -1: not given */
} ddp_gpu_wish;

/* Where a rank runs, and the GPU that it chose. Zero it first: ranks send each other its bytes. */
typedef struct ddp_gpu_placement {
    char host[256];
    int local_rank;    /* the rank's number among those of its host, from 0 */
    int local_size;    /* how many ranks its host has */
    int seen;          /* number of GPUs that the rank sees */
    int gpu;           /* the chosen GPU's number among those that the rank sees, from 0 */
    char identity[64]; /* the chosen GPU's name, which no other GPU of the host has */
} ddp_gpu_placement;

/* Fail with DDP_ERR_USAGE if `ranks` ranks cannot be started on this host, which sees `seen` GPUs.
 * The sentence names the host, the counts, and what would work. */
ddp_status ddp_gpu_check_start(const ddp_gpu_wish *wish, const char *host, int ranks, int seen,
                               ddp_error *err) DDP_MUST_CHECK;

/* Set placement->gpu of a rank; host, local_rank, local_size and seen must be set. Fails with
 * DDP_ERR_USAGE if this rank sees no GPU, the list has too few, or -gpus or -i names one that this
 * rank does not see. */
ddp_status ddp_gpu_choose(ddp_gpu_placement *placement, const ddp_gpu_wish *wish,
                          ddp_error *err) DDP_MUST_CHECK;

/* Set *shared to 1 if the GPU of rank `rank` is another rank's, too, else to 0. With rank -1: to 1
 * if any two ranks have the same GPU. placements: those of all ranks, so that all fail or none.
 * Fails with DDP_ERR_USAGE if two ranks share a GPU, unless -gpus gives both its number. */
ddp_status ddp_gpu_check_placements(int *shared, const ddp_gpu_placement *placements, int ranks,
                                    int rank, const ddp_gpu_wish *wish,
                                    ddp_error *err) DDP_MUST_CHECK;

#endif
