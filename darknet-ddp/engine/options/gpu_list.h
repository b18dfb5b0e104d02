/* options/gpu_list.h: reads -gpus, the list of a host's GPUs, one for each rank of the host. */
#ifndef DDP_OPTIONS_GPU_LIST_H
#define DDP_OPTIONS_GPU_LIST_H

#include "base/status.h"

enum { DDP_GPU_LIST_MAX = 64, DDP_GPU_NUMBER_MAX = 1023 };

/* CUDA's numbers of a host's GPUs. gpus[r] is the GPU of the host's rank r, from 0. */
typedef struct ddp_gpu_list {
    int count; /* how many GPUs the list has; 0: -gpus was not given */
    int gpus[DDP_GPU_LIST_MAX];
} ddp_gpu_list;

/* Read a text like "0,1,3" into *list: 1 to DDP_GPU_LIST_MAX numbers from 0 to DDP_GPU_NUMBER_MAX,
 * with commas between them. A number may be repeated. Fails with DDP_ERR_USAGE for any other text;
 * *list may have changed then. */
ddp_status ddp_gpu_list_parse(ddp_gpu_list *list, const char *text, ddp_error *err) DDP_MUST_CHECK;

#endif
