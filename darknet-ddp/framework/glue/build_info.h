/* glue/build_info.h: what this program was built of and for, in words that ranks compare.
 *
 * All ranks add gradients to the same parameters, so their programs must compute alike: another
 * version, another patch, another library of matrix products is another result.
 */
#ifndef DDP_GLUE_BUILD_INFO_H
#define DDP_GLUE_BUILD_INFO_H

#include <stddef.h>

/* A line each: our version and source, Darknet's with its patches, compiler and its flags,
 * how matrix products are computed, and in a build for GPUs CUDA and cuDNN. NCCL is
 * compared where it is opened (comm/group.h). The caller frees it. NULL: no memory. */
char *ddp_build_describe(void);

/* Write lines of what decides, beside the build, how results round: the CPU's instructions that
 * libraries choose their code by, the device's name, and what decodes pictures. Cut at size. */
void ddp_build_describe_device(const char *device, char *out, size_t size);

#endif
