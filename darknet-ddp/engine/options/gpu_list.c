#include "options/gpu_list.h"

#include <errno.h>
#include <stdlib.h>

ddp_status ddp_gpu_list_parse(ddp_gpu_list *list, const char *text, ddp_error *err)
{
    const char *at = text;

    *list = (ddp_gpu_list){0};
    for (;;) {
        char *end = NULL;
        long gpu;

        errno = 0;
        gpu = *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : -1;
        if (gpu < 0 || gpu > DDP_GPU_NUMBER_MAX || errno || (*end && *end != ','))
            return ddp_fail(err, DDP_ERR_USAGE,
                            "-gpus wants numbers of GPUs from 0 to %d with commas between them, "
                            "such as 0,1,2, not '%s'",
                            DDP_GPU_NUMBER_MAX, text);
        if (list->count == DDP_GPU_LIST_MAX)
            return ddp_fail(err, DDP_ERR_USAGE, "-gpus takes up to %d GPUs, and '%s' names more",
                            DDP_GPU_LIST_MAX, text);
        list->gpus[list->count++] = (int)gpu;
        if (!*end)
            return DDP_OK;
        at = end + 1;
    }
}
