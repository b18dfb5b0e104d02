/* The steps of PowerSGD on the host, by matrix.c, and the choice between these and those of a GPU
 * (low_rank.h). */
#include "algorithms/powersgd/low_rank.h"

#include <string.h>

/* NaN, of a sum that is not finite, is no zero. */
static int ran_nowhere(const float *ran)
{
    return *ran <= 0;
}

static void compute_p(ddp_device *d, const ddp_low_rank *x)
{
    (void)d;
    ddp_matrix_add_times(x->m, x->error, x->q, x->p, x->shape);
}

static void compute_q(ddp_device *d, const ddp_low_rank *x)
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

static void renew_q(ddp_device *d, const ddp_low_rank *x, const float *ran)
{
    (void)d;
    if (ran_nowhere(ran))
        return;
    memcpy(x->q, x->q_sum, x->shape.columns * x->shape.rank * sizeof *x->q);
    ddp_matrix_renew_q(x->q, x->drawn, x->shape);
}

static const ddp_low_rank_ops on_host = {
    .compute_p = compute_p, .compute_q = compute_q, .decode = decode, .renew_q = renew_q};

static const ddp_low_rank_ops *ops_of(const ddp_device *d)
{
    return ddp_device_is_host(d) ? &on_host : ddp_low_rank_on_gpu;
}

void ddp_low_rank_compute_p(ddp_device *d, const ddp_low_rank *x)
{
    ops_of(d)->compute_p(d, x);
}

void ddp_low_rank_compute_q(ddp_device *d, const ddp_low_rank *x)
{
    ops_of(d)->compute_q(d, x);
}

void ddp_low_rank_decode(ddp_device *d, const ddp_low_rank *x, const float *ran, float share)
{
    ops_of(d)->decode(d, x, ran, share);
}

void ddp_low_rank_renew_q(ddp_device *d, const ddp_low_rank *x, const float *ran)
{
    ops_of(d)->renew_q(d, x, ran);
}
