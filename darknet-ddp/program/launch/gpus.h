/* launch/gpus.h: this rank's GPU, by the options (rules: launch/gpu_placement.h). */
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
    int named;       /* 1: the command line names GPUs */
    char names[256]; /* kinds of ranks' devices: "GPU NVIDIA H200, NVIDIA L4"; "CPU" */
    ddp_gpu_placement *placements; /* placement of each rank; NULL: they compute on CPUs */
} ddp_gpus;

/* Free g->placements and set it to NULL. All zero is allowed. */
void ddp_gpus_release(ddp_gpus *g);

/* Return 1 if ranks compute on GPUs: in a build for GPUs, without -nogpu. */
int ddp_gpus_wanted(const ddp_options *options);

/* Return 1 if NCCL sums the ranks' GPU memory in this group, which is open. */
int ddp_gpus_use_nccl(const ddp_group *group);

/* Check that the options go with this build and with the GPUs of this host, before any rank is
 * started or joined. *start becomes how many ranks this process has to start; 0: none, because it
 * is a rank already, or alone. Fails with DDP_ERR_USAGE. */
ddp_status ddp_gpus_check(const ddp_options *options, ddp_launcher launcher, int *start,
                          ddp_error *err) DDP_MUST_CHECK;

/* Choose this rank's GPU, compare it with those of all ranks, and give it to the group; on CPUs do
 * nothing. If NCCL cannot be used and was not asked for, rank 0 prints why; it also prints if
 * -ddp_nccl_ctas does nothing. Blocks until every rank is here. *out is set in any case; release
 * it. If the GPU fails later, the group calls `fail`. Fails with DDP_ERR_USAGE, DDP_ERR_MISMATCH,
 * DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_gpus_open(ddp_gpus *out, ddp_group *group, const ddp_options *options,
                         void (*fail)(const ddp_error *err) __attribute__((noreturn)),
                         ddp_error *err) DDP_MUST_CHECK;

#endif
