/* glue/build_info.h: describes the program and its device as text that ranks compare, since ranks
 * that round differently would get different parameters. (ddp_group_use_gpu compares NCCL.) */
#ifndef DDP_GLUE_BUILD_INFO_H
#define DDP_GLUE_BUILD_INFO_H

#include <stddef.h>

/* Return lines that describe this build: version, checksums of our source and Darknet's, compiler
 * and flags, the library that multiplies matrices and, in a build for GPUs, CUDA and cuDNN. The
 * caller frees the text. NULL: no memory. */
char *ddp_build_describe(void);

/* Write to out[0..size) lines about what else decides how results round: the computing device, the
 * CPU's instructions, and the libraries that decode pictures. `device`: the device's name. Text
 * that does not fit is cut off. */
void ddp_build_describe_device(const char *device, char *out, size_t size);

#endif
