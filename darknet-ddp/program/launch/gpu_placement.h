/* launch/gpu_placement.h: chooses which GPU each rank computes on.
 *
 * First each rank chooses its GPU by -gpus or -i, or else by its number among the ranks of its
 * host. Then all ranks compare what they chose, because a launcher may show each rank another GPU
 * under the same number. No function here asks a GPU. */
#ifndef DDP_LAUNCH_GPU_PLACEMENT_H
#define DDP_LAUNCH_GPU_PLACEMENT_H

#include "base/status.h"
#include "options/gpu_list.h"

/* The GPUs that the command line names. */
typedef struct ddp_gpu_wish {
    ddp_gpu_list list; /* GPUs of -gpus; empty: not given */
    int gpu;           /* the GPU of -i; -1: not given */
} ddp_gpu_wish;

/* Where a rank runs, and the GPU that it chose. Zero it first: ranks send each other its bytes. */
typedef struct ddp_gpu_placement {
    char host[256];
    int local_rank;    /* the rank's number among those of its host, from 0 */
    int local_size;    /* number of ranks on its host */
    int seen;          /* number of GPUs that the rank sees */
    int gpu;           /* the chosen GPU's number among those that the rank sees, from 0 */
    char identity[64]; /* the chosen GPU's name, by ddp_device_identify */
    int shared; /* 1: another rank computes on this GPU, too; set by ddp_gpu_check_placements */
} ddp_gpu_placement;

/* Check that this host's GPUs suffice to start `ranks` ranks. Fails with DDP_ERR_USAGE if the
 * host has no GPU, if -gpus or -i names one that it lacks, or if -i is given for several ranks.
 * Without these options, fails if there are fewer GPUs than ranks. The error says what would work.
 *   host  this host's name, for the error
 *   seen  number of GPUs that this host has */
ddp_status ddp_gpu_check_start(const ddp_gpu_wish *wish, const char *host, int ranks, int seen,
                               ddp_error *err) DDP_MUST_CHECK;

/* Choose the GPU of a rank, and set placement->gpu. The caller has set host, local_rank, local_size
 * and seen, and sets identity afterwards. Fails with DDP_ERR_USAGE if -gpus names fewer GPUs than
 * the host has ranks, or the rank does not see its GPU. */
ddp_status ddp_gpu_choose(ddp_gpu_placement *placement, const ddp_gpu_wish *wish,
                          ddp_error *err) DDP_MUST_CHECK;

/* Set `shared` of each rank's placement. Fails with DDP_ERR_USAGE if two ranks share a GPU, unless
 * -gpus gives its number to both. Call on each rank with the placements of all ranks. */
ddp_status ddp_gpu_check_placements(ddp_gpu_placement *placements, int ranks,
                                    const ddp_gpu_wish *wish, ddp_error *err) DDP_MUST_CHECK;

#endif
