/* device/compress.h: what compression of gradients (core/compressor.h says what it is) computes on
 * a device, of one parameter at a time. All memory is the device's; on a GPU work is queued
 * (device.h).
 *
 * What must be the same on all ranks, P, Q and the sum that they stand for, has the same bits on
 * any GPU for the same sums; and what is told of the largest elements those that the host gives.
 * On a GPU products are added up in another order than on the host, in a fixed one. */
#ifndef DDP_DEVICE_COMPRESS_H
#define DDP_DEVICE_COMPRESS_H

#include "device/device.h"
#include "device/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A matrix and what PowerSGD makes of it; shapes as in device/matrix.h. Nothing overlaps. */
typedef struct ddp_low_rank {
    ddp_shape shape;
    float *m;           /* this rank's gradient; M from encode on; then the sum over ranks */
    float *error;       /* of M's size */
    float *q;           /* orthonormal, what the step begins with */
    const float *drawn; /* of q's size: what a column that is lost is replaced by */
    float *p;           /* P, and its sum over ranks */
    float *q_sum;       /* M^T P, and its sum over ranks */
} ddp_low_rank;

/* M = gradient + error, P = M Q. */
void ddp_low_rank_encode(ddp_device *d, const ddp_low_rank *x);

/* Of the sum of P: its columns become orthonormal, and q_sum = M^T P. */
void ddp_low_rank_go_on(ddp_device *d, const ddp_low_rank *x);

/* Of both sums, where *ran, of the device's memory, is above 0: error = M - share * P q_sum^T, and
 * in place of M that product. Else the gradient becomes zero, and nothing else changes. */
void ddp_low_rank_decode(ddp_device *d, const ddp_low_rank *x, const float *ran, float share);

/* And q = orthonormal q_sum, where *ran is above 0. */
void ddp_low_rank_renew(ddp_device *d, const ddp_low_rank *x, const float *ran);

/* An array and its largest elements (device/top_k.h). */
typedef struct ddp_largest {
    size_t count;
    double percent;
    float *m;     /* as above */
    float *error; /* of m's size */
    float *told;  /* of each rank ddp_top_k_numbers numbers, one rank after the other */
    int rank, ranks;
} ddp_largest;

/* M = gradient + error; its largest are told in this rank's place, and zero in the others'. */
void ddp_largest_encode(ddp_device *d, const ddp_largest *x);

/* Of the sum of told, where *ran is above 0: error = M without what this rank has told, and in
 * place of M what all have, in the order of ranks. Else as above. */
void ddp_largest_decode(ddp_device *d, const ddp_largest *x, const float *ran);

#ifdef __cplusplus
}
#endif

#endif
