/* glue/build_info.h: describes the program and its device as text that ranks compare, since ranks
 * that round differently would get different parameters. */
#ifndef DDP_GLUE_BUILD_INFO_H
#define DDP_GLUE_BUILD_INFO_H

#include <stddef.h>

/* Return lines that describe this build: version, checksums of our source and Darknet's, compiler
 * and flags, how matrices are multiplied and, in a build for GPUs, CUDA and cuDNN. NCCL is not in
 * them (comm/group.h compares it). The caller frees the text. NULL: no memory. */
char *ddp_build_describe(void);

/* Write lines on what else decides how results round to out[0..size): the computing device, whose
 * name is `device`, the CPU's instructions, and the libraries that decode pictures. Cuts off text
 * that does not fit. */
void ddp_build_describe_device(const char *device, char *out, size_t size);

#endif
