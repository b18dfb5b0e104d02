/* launch/gpus.h: the GPU of this rank, as the options say (launch/gpu_placement.h has the rules).
 */
#ifndef DDP_LAUNCH_GPUS_H
#define DDP_LAUNCH_GPUS_H

#include "base/status.h"
#include "comm/group.h"
#include "launch/gpu_placement.h"
#include "launch/launcher_env.h"
#include "options/options.h"

typedef struct ddp_gpus {
    int gpu;         /* CUDA's number of this rank's GPU; -1: it computes on the CPU */
    int shared;      /* some ranks have the same GPU */
    int named;       /* the command line names GPUs */
    char names[256]; /* "GPU NVIDIA H200", or "CPU"; several kinds with commas between them */
    ddp_gpu_placement *placements; /* one for each rank; NULL: they compute on CPUs */
} ddp_gpus;

/* Free what *g holds; nothing else changes. All zero is allowed. */
void ddp_gpus_release(ddp_gpus *g);

/* Do ranks compute on GPUs? So they do in a build for GPUs, but with -nogpu. */
int ddp_gpus_wanted(const ddp_options *options);

/* Is this build for GPUs? */
int ddp_gpus_in_build(void);

/* Does NCCL sum what ranks of an open group compute? */
int ddp_gpus_use_nccl(const ddp_group *group);

/* Before any rank is started or joined: can this be? *start becomes how many ranks are to be
 * started here; 0: this process is one already, or the only one.
 * Fails with DDP_ERR_USAGE. */
ddp_status ddp_gpus_check(const ddp_options *options, ddp_launcher launcher, int *start,
                          ddp_error *err) DDP_MUST_CHECK;

/* Choose this rank's GPU, compare with all ranks, and give it to the group, or do nothing on
 * CPUs. Where NCCL cannot be used and was not asked for, rank 0 says why, and names an option of
 * NCCL's that does nothing then. Blocks until every rank is here. *out is set in any case; release
 * it. A GPU that fails later ends the program as fail does. Fails with DDP_ERR_USAGE,
 * DDP_ERR_MISMATCH, DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_gpus_open(ddp_gpus *out, ddp_group *group, const ddp_options *options,
                         void (*fail)(const ddp_error *err) __attribute__((noreturn)),
                         ddp_error *err) DDP_MUST_CHECK;

#endif
