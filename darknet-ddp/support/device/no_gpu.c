/* For builds for CPUs: device/device.h's functions for GPUs alone find none, or do nothing. */
#include "device/device.h"

int ddp_device_count(void)
{
    return 0;
}

const char *ddp_device_why_none(void)
{
    return "";
}

void ddp_device_identify(int gpu, char *text, size_t size)
{
    (void)gpu;
    if (size > 0)
        text[0] = '\0';
}

void ddp_device_range_push(const char *name)
{
    (void)name;
}

void ddp_device_range_pop(void)
{
}
