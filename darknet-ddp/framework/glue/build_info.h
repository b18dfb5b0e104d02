/* glue/build_info.h: describes this build, and what else decides how results round (device,
 * processor), as text that ranks compare.
 *
 * All ranks add gradients to the same parameters, so their programs must compute alike. Another
 * version, patch or library of matrix products gives other results. */
#ifndef DDP_GLUE_BUILD_INFO_H
#define DDP_GLUE_BUILD_INFO_H

#include <stddef.h>

/* Return lines that describe this build; the caller frees them. They have our version and source,
 * Darknet's with its patches, compiler and flags, how matrix products are computed; in a build for
 * GPUs also CUDA and cuDNN. (NCCL is compared where it is opened, comm/group.h.) NULL: no memory.
 */
char *ddp_build_describe(void);

/* Write to out[0..size) lines on what decides, besides the build, how results round: the computing
 * device, the CPU's instructions, and what decodes pictures. device: the computing device's name.
 * Text that does not fit is cut off. */
void ddp_build_describe_device(const char *device, char *out, size_t size);

#endif
