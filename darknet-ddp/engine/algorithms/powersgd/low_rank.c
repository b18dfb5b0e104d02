/* The matrix products of PowerSGD on the host, and the choice between these and those of a GPU
 * (low_rank.h). */
#include "algorithms/powersgd/low_rank.h"

#include <string.h>

/* NaN, of a sum that is not finite, is no zero. */
static int ran_nowhere(const float *ran)
{
    return *ran <= 0;
}

static void encode(ddp_device *d, const ddp_low_rank *x)
{
    (void)d;
    ddp_matrix_add_times(x->m, x->error, x->q, x->p, x->shape);
}

static void go_on(ddp_device *d, const ddp_low_rank *x)
{
    (void)d;
    ddp_matrix_orthogonalize(x->p, x->shape.rows, x->shape.rank);
    ddp_matrix_transposed_times(x->m, x->p, x->q_sum, x->shape);
}

static void decode(ddp_device *d, const ddp_low_rank *x, const float *ran, float share)
{
    (void)d;
    if (ran_nowhere(ran))
        memset(x->m, 0, x->shape.rows * x->shape.columns * sizeof *x->m);
    else
        ddp_matrix_approximate(x->m, x->error, x->p, x->q_sum, share, x->shape);
}

static void renew(ddp_device *d, const ddp_low_rank *x, const float *ran)
{
    (void)d;
    if (ran_nowhere(ran))
        return;
    memcpy(x->q, x->q_sum, x->shape.columns * x->shape.rank * sizeof *x->q);
    ddp_matrix_renew_q(x->q, x->drawn, x->shape);
}

static const ddp_low_rank_ops on_host = {
    .encode = encode, .go_on = go_on, .decode = decode, .renew = renew};

static const ddp_low_rank_ops *ops_of(const ddp_device *d)
{
    return ddp_device_is_host(d) ? &on_host : ddp_low_rank_on_gpu;
}

void ddp_low_rank_encode(ddp_device *d, const ddp_low_rank *x)
{
    ops_of(d)->encode(d, x);
}

void ddp_low_rank_make_second(ddp_device *d, const ddp_low_rank *x)
{
    ops_of(d)->go_on(d, x);
}

void ddp_low_rank_decode(ddp_device *d, const ddp_low_rank *x, const float *ran, float share)
{
    ops_of(d)->decode(d, x, ran, share);
}

void ddp_low_rank_renew_q(ddp_device *d, const ddp_low_rank *x, const float *ran)
{
    ops_of(d)->renew(d, x, ran);
}
