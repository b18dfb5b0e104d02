/* algorithms/powersgd/low_rank.h: the steps of PowerSGD on a device, for one weight matrix at a
 * time. powersgd.c has the algorithm, matrix.h the shapes of M, P and Q.
 *
 *   1. ddp_low_rank_compute_p; then p is summed over ranks
 *   2. ddp_low_rank_compute_q; then q_sum is summed over ranks
 *   3. ddp_low_rank_decode
 *   4. ddp_low_rank_renew_q, for the next step
 *
 * All memory is the device's; on a GPU work is queued (device/device.h). Parameters: `share` is one
 * divided by the number of ranks; *ran (device memory) is on how many ranks the matrix's layer ran.
 * The decoded sum and the next Q have the same bits on all ranks, on any GPU. A GPU adds in another
 * order than the host, so the two may differ by rounding. */
#ifndef DDP_ALGORITHMS_POWERSGD_LOW_RANK_H
#define DDP_ALGORITHMS_POWERSGD_LOW_RANK_H

#include "algorithms/powersgd/matrix.h"
#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The matrices of PowerSGD for one weight matrix. No two overlap. */
typedef struct ddp_low_rank {
    ddp_shape shape;
    float *m;     /* this rank's gradient, then M; after decode the approximate sum over ranks */
    float *error; /* in M's shape: the part of earlier gradients that this rank has not sent */
    float *q;     /* Q with which the step begins; its columns are orthonormal */
    /* spare columns, in Q's shape: if q's column k depends on q's earlier columns, `drawn`'s
     * column k replaces it */
    const float *drawn;
    float *p;     /* P of this rank, then its sum over ranks */
    float *q_sum; /* M^T P of this rank, then its sum over ranks */
} ddp_low_rank;

/* Set m to M = gradient + error, and p to M Q. */
void ddp_low_rank_compute_p(ddp_device *d, const ddp_low_rank *x);

/* Orthogonalize p, the sum over ranks (ddp_matrix_orthogonalize). Then set q_sum to M^T P. */
void ddp_low_rank_compute_q(ddp_device *d, const ddp_low_rank *x);

/* Set error to M - share * P q_sum^T, then m to P q_sum^T, with q_sum summed over ranks. If *ran is
 * 0, only set m to zero. */
void ddp_low_rank_decode(ddp_device *d, const ddp_low_rank *x, const float *ran, float share);

/* Set q to the columns of q_sum, made orthonormal. A column that depends on earlier columns is
 * first replaced by the same column of `drawn`. Does nothing if *ran is 0. */
void ddp_low_rank_renew_q(ddp_device *d, const ddp_low_rank *x, const float *ran);

/* The functions ddp_low_rank_NAME for one kind of device. */
typedef struct ddp_low_rank_ops {
    void (*compute_p)(ddp_device *d, const ddp_low_rank *x);
    void (*compute_q)(ddp_device *d, const ddp_low_rank *x);
    void (*decode)(ddp_device *d, const ddp_low_rank *x, const float *ran, float share);
    void (*renew_q)(ddp_device *d, const ddp_low_rank *x, const float *ran);
} ddp_low_rank_ops;

/* The functions for GPUs; NULL in a build for CPUs. */
extern const ddp_low_rank_ops *const ddp_low_rank_on_gpu;

#ifdef __cplusplus
}
#endif

#endif
