/* algorithms/powersgd/low_rank.h: what PowerSGD computes on a device, of one matrix at a time. All
 * memory is the device's; on a GPU work is queued (device/device.h).
 *
 * P, Q and P Q^T must be the same on all ranks. Made of the same sums, they have the same bits on
 * any GPU. A GPU adds up products in a fixed order, which is not the host's. */
#ifndef DDP_ALGORITHMS_POWERSGD_LOW_RANK_H
#define DDP_ALGORITHMS_POWERSGD_LOW_RANK_H

#include "algorithms/powersgd/matrix.h"
#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A matrix and what PowerSGD makes of it; shapes as in matrix.h. Nothing overlaps. */
typedef struct ddp_low_rank {
    ddp_shape shape;
    float *m; /* M's memory: before encode this rank's gradient, after decode the sum over ranks */
    float *error; /* in M's shape: what of earlier gradients this rank has not sent yet */
    float *q;     /* Q with which the step begins; its columns are orthonormal */
    /* spare columns, in q's shape: column k replaces q's if q's depends on earlier columns of q */
    const float *drawn;
    float *p;     /* P of this rank; the caller sums it over ranks before make_second */
    float *q_sum; /* M^T P of this rank; the caller sums it over ranks before decode */
} ddp_low_rank;

/* Set m to M = gradient + error, and p to P = M Q. */
void ddp_low_rank_encode(ddp_device *d, const ddp_low_rank *x);

/* Make the columns of p, which has the sum of P over ranks, orthonormal, and set q_sum to M^T P. */
void ddp_low_rank_make_second(ddp_device *d, const ddp_low_rank *x);

/* Set error to M - share * P q_sum^T, then m to P q_sum^T. Call when p and q_sum have their sums
 * over ranks. share: one divided by the number of ranks. *ran, in the device's memory, is on how
 * many ranks the layer ran; if it is 0, set m to zero and change nothing else. */
void ddp_low_rank_decode(ddp_device *d, const ddp_low_rank *x, const float *ran, float share);

/* Set q to the columns of q_sum, made orthonormal. A column that depends on earlier columns is
 * replaced by that of `drawn`. Does nothing if *ran (ddp_low_rank_decode) is 0. */
void ddp_low_rank_renew_q(ddp_device *d, const ddp_low_rank *x, const float *ran);

/* ---- a kind of device: what the four functions above do there, in their order ---- */

typedef struct ddp_low_rank_ops {
    void (*encode)(ddp_device *d, const ddp_low_rank *x);
    void (*go_on)(ddp_device *d, const ddp_low_rank *x);
    void (*decode)(ddp_device *d, const ddp_low_rank *x, const float *ran, float share);
    void (*renew)(ddp_device *d, const ddp_low_rank *x, const float *ran);
} ddp_low_rank_ops;

extern const ddp_low_rank_ops
    *const ddp_low_rank_on_gpu; /* the functions for GPUs; NULL: this build is for CPUs */

#ifdef __cplusplus
}
#endif

#endif
