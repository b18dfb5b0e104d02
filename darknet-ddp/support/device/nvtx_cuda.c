#include "device/device.h"

/* CUDA's toolkits have NVTX since CUDA 10, as headers alone; the emulated device has none. */
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>

void ddp_device_range_push(const char *name)
{
    (void)nvtxRangePushA(name);
}

void ddp_device_range_pop(void)
{
    (void)nvtxRangePop();
}

#else

void ddp_device_range_push(const char *name)
{
    (void)name;
}

void ddp_device_range_pop(void)
{
}

#endif
