#include "device/compress.h"

#include "device/device_ops.h"

void ddp_low_rank_encode(ddp_device *d, const ddp_low_rank *x)
{
    d->ops->compress->low_rank_encode(d, x);
}

void ddp_low_rank_go_on(ddp_device *d, const ddp_low_rank *x)
{
    d->ops->compress->low_rank_go_on(d, x);
}

void ddp_low_rank_decode(ddp_device *d, const ddp_low_rank *x, const float *ran, float share)
{
    d->ops->compress->low_rank_decode(d, x, ran, share);
}

void ddp_low_rank_renew(ddp_device *d, const ddp_low_rank *x, const float *ran)
{
    d->ops->compress->low_rank_renew(d, x, ran);
}

void ddp_largest_encode(ddp_device *d, const ddp_largest *x)
{
    d->ops->compress->largest_encode(d, x);
}

void ddp_largest_decode(ddp_device *d, const ddp_largest *x, const float *ran)
{
    d->ops->compress->largest_decode(d, x, ran);
}
