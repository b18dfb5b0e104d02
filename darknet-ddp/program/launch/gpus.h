/* launch/gpus.h: gives each rank the GPU that it computes on, by the rules of
 * launch/gpu_placement.h. */
#ifndef DDP_LAUNCH_GPUS_H
#define DDP_LAUNCH_GPUS_H

#include "base/status.h"
#include "comm/group.h"
#include "launch/gpu_placement.h"
#include "launch/launcher_env.h"
#include "options/options.h"

typedef struct ddp_gpus {
    int gpu;         /* CUDA's number of this rank's GPU; -1: it computes on the CPU */
    int shared;      /* 1: some ranks have the same GPU */
    int named;       /* 1: ranks compute on GPUs that the command line names */
    char names[256]; /* kinds of the ranks' devices: "GPU NVIDIA H200, NVIDIA L4", or "CPU" */
    ddp_gpu_placement *placements; /* placement of each rank; NULL: they compute on CPUs */
} ddp_gpus;

/* Free g->placements and set it to NULL. All zero is allowed. */
void ddp_gpus_release(ddp_gpus *g);

/* Return 1 if ranks compute on GPUs: in a build for GPUs, without -nogpu. */
int ddp_gpus_wanted(const ddp_options *options);

/* Return 1 if NCCL sums the ranks' GPU memory in this group. Call after ddp_gpus_open. */
int ddp_gpus_use_nccl(const ddp_group *group);

/* Check that this build and this host's GPUs can do what the options ask for. Set *to_start to how
 * many ranks this process must start for -gpus or -ddp_ranks; 0: none. In a rank it is 0. Call
 * before ranks are started and, in a rank, before ddp_gpus_open. Fails with DDP_ERR_USAGE. */
ddp_status ddp_gpus_check(const ddp_options *options, ddp_launcher launcher, int *to_start,
                          ddp_error *err) DDP_MUST_CHECK;

/* Choose this rank's GPU, and have the group use it, unless ranks compute on CPUs. If NCCL cannot
 * be used and was not asked for, rank 0 prints why. Collective. Release *out, also on failure.
 * Fails with DDP_ERR_USAGE, DDP_ERR_MISMATCH, DDP_ERR_NOMEM, DDP_ERR_COMM.
 *   fail  function that the group calls if the GPU fails later */
ddp_status ddp_gpus_open(ddp_gpus *out, ddp_group *group, const ddp_options *options,
                         void (*fail)(const ddp_error *err) __attribute__((noreturn)),
                         ddp_error *err) DDP_MUST_CHECK;

#endif
