/* launch/gpu_placement.h: which GPU each rank computes on.
 *
 * Each rank chooses by what it was asked for, its place among the ranks of its host and how
 * many GPUs it sees. Then all ranks compare what they chose: launchers may show each rank other
 * GPUs under the same numbers. Nothing here asks a GPU.
 */
#ifndef DDP_LAUNCH_GPU_PLACEMENT_H
#define DDP_LAUNCH_GPU_PLACEMENT_H

#include "base/status.h"
#include "options/gpu_list.h"

/* The GPUs that the command line asks for. */
typedef struct ddp_gpu_wish {
    ddp_gpu_list list;
    int gpu; /* one GPU; -1: none was named */
} ddp_gpu_wish;

/* Where a rank runs, and what it chose. Ranks send it to each other as it is: zero it first. */
typedef struct ddp_gpu_placement {
    char host[256];
    int local_rank;    /* among the ranks of the host */
    int local_size;    /* how many these are */
    int seen;          /* GPUs that this rank sees, numbered from 0 */
    int gpu;           /* its choice */
    char identity[64]; /* that GPU's: two different GPUs of a host never have the same */
} ddp_gpu_placement;

/* Can `ranks` ranks be started on this host, which sees `seen` GPUs? Fails with DDP_ERR_USAGE:
 * the sentence names host and counts, and what would work. */
ddp_status ddp_gpu_check_start(const ddp_gpu_wish *wish, const char *host, int ranks, int seen,
                               ddp_error *err) DDP_MUST_CHECK;

/* Set placement->gpu of a rank, whose host, ranks and seen are set.
 * Fails with DDP_ERR_USAGE: too few GPUs in the list, or one that this rank does not see. */
ddp_status ddp_gpu_choose(ddp_gpu_placement *placement, const ddp_gpu_wish *wish,
                          ddp_error *err) DDP_MUST_CHECK;

/* Compare the placements of all ranks; every rank comes to the same result. *shared: rank's GPU
 * is another rank's too; rank -1: any rank's is. Fails with DDP_ERR_USAGE where GPUs are shared and
 * the list did not say so. */
ddp_status ddp_gpu_check_placements(int *shared, const ddp_gpu_placement *placements, int ranks,
                                    int rank, const ddp_gpu_wish *wish,
                                    ddp_error *err) DDP_MUST_CHECK;

#endif
