/* Finds the largest elements for top-k on the host, and chooses between the host's way and a GPU's
 * (largest.h). */
#include "algorithms/topk/largest.h"

static float *told_by(const ddp_largest *x, int rank)
{
    return x->told + (size_t)rank * x->stride;
}

static void encode(ddp_device *d, const ddp_largest *x)
{
    ddp_device_add(d, x->m, x->error, x->count);
    ddp_top_k_select(told_by(x, x->rank), x->m, x->count, x->percent);
}

/* NaN, of a sum that is not finite, is no zero. */
static int ran_nowhere(const float *ran)
{
    return *ran <= 0;
}

static void decode(ddp_device *d, const ddp_largest *x, const float *ran)
{
    if (!ran_nowhere(ran)) {
        ddp_device_copy(d, x->error, x->m, x->count);
        ddp_top_k_clear_told(x->error, told_by(x, x->rank), x->count, x->percent);
    }
    ddp_device_zero(d, x->m, x->count);
    for (int rank = 0; rank < x->ranks && !ran_nowhere(ran); rank++)
        ddp_top_k_add_told(x->m, told_by(x, rank), x->count, x->percent);
}

static const ddp_largest_ops on_host = {.encode = encode, .decode = decode};

static const ddp_largest_ops *ops_of(const ddp_device *d)
{
    return ddp_device_is_host(d) ? &on_host : ddp_largest_on_gpu;
}

void ddp_largest_encode(ddp_device *d, const ddp_largest *x)
{
    ops_of(d)->encode(d, x);
}

void ddp_largest_decode(ddp_device *d, const ddp_largest *x, const float *ran)
{
    ops_of(d)->decode(d, x, ran);
}
