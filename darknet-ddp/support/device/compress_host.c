/* Compression on the host: matrix.h and top_k.h. */
#include "device/device_ops.h"
#include "device/top_k.h"

#include <string.h>

/* NaN, of a sum that is not finite, is no zero. */
static int ran_nowhere(const float *ran)
{
    return *ran <= 0;
}

static void low_rank_encode(ddp_device *d, const ddp_low_rank *x)
{
    (void)d;
    ddp_matrix_add_times(x->m, x->error, x->q, x->p, x->shape);
}

static void low_rank_go_on(ddp_device *d, const ddp_low_rank *x)
{
    (void)d;
    ddp_matrix_orthogonalize(x->p, x->shape.rows, x->shape.rank);
    ddp_matrix_transposed_times(x->m, x->p, x->q_sum, x->shape);
}

static void low_rank_decode(ddp_device *d, const ddp_low_rank *x, const float *ran, float share)
{
    (void)d;
    if (ran_nowhere(ran))
        memset(x->m, 0, x->shape.rows * x->shape.columns * sizeof *x->m);
    else
        ddp_matrix_approximate(x->m, x->error, x->p, x->q_sum, share, x->shape);
}

static void low_rank_renew(ddp_device *d, const ddp_low_rank *x, const float *ran)
{
    (void)d;
    if (ran_nowhere(ran))
        return;
    memcpy(x->q, x->q_sum, x->shape.columns * x->shape.rank * sizeof *x->q);
    ddp_matrix_renew(x->q, x->drawn, x->shape);
}

static float *told_by(const ddp_largest *x, int rank)
{
    return x->told + (size_t)rank * ddp_top_k_numbers(x->count, x->percent);
}

static void largest_encode(ddp_device *d, const ddp_largest *x)
{
    ddp_device_add(d, x->m, x->error, x->count);
    ddp_device_zero(d, x->told, (size_t)(told_by(x, x->ranks) - x->told));
    ddp_top_k_take(told_by(x, x->rank), x->m, x->count, x->percent);
}

/* What this rank has told is in its place as it was: the others added zero. */
static void largest_decode(ddp_device *d, const ddp_largest *x, const float *ran)
{
    if (!ran_nowhere(ran)) {
        ddp_device_copy(d, x->error, x->m, x->count);
        ddp_top_k_clear(x->error, told_by(x, x->rank), x->count, x->percent);
    }
    ddp_device_zero(d, x->m, x->count);
    for (int rank = 0; rank < x->ranks && !ran_nowhere(ran); rank++)
        ddp_top_k_add(x->m, told_by(x, rank), x->count, x->percent);
}

const struct ddp_compress_ops ddp_compress_host = {
    .low_rank_encode = low_rank_encode,
    .low_rank_go_on = low_rank_go_on,
    .low_rank_decode = low_rank_decode,
    .low_rank_renew = low_rank_renew,
    .largest_encode = largest_encode,
    .largest_decode = largest_decode,
};
