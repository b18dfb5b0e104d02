/* core/gradient_codec.h: functions that compress the gradients of a bucket before they are summed
 * over ranks, as a communication hook of PyTorch's DistributedDataParallel does.
 *
 * An algorithm (algorithms/) encodes a parameter's gradient into a few numbers. They are summed
 * over ranks, or all-gathered, and the algorithm decodes the result into the gradient. The reducer
 * owns the numbers' memory, and sends them (core/encoded_sums.h). It calls these functions in one
 * order on every rank, from one thread. Numbers are floats; one that is not finite tells that the
 * gradients are not. */
#ifndef DDP_CORE_GRADIENT_CODEC_H
#define DDP_CORE_GRADIENT_CODEC_H

#include "device/device.h"

#include <stddef.h>

/* A bucket has a sum in round 0. It may have another in round 1, of numbers that are made of the
 * first sum. */
enum { DDP_CODEC_ROUNDS = 2 };

/* A parameter, its gradient and the numbers that encode it, in memory of the table's device. */
typedef struct ddp_codec_param {
    size_t param; /* index of the parameter in the table */
    float *gradient;
    float *numbers[DDP_CODEC_ROUNDS]; /* by round; numbers[1] is NULL without round 1 */
    /* If the codec gathers: floats from one rank's numbers to the next one's in numbers[0], which
     * begins with rank 0's. Else 0. */
    size_t stride;
} ddp_codec_param;

typedef struct ddp_gradient_codec {
    /* Return 1 if the numbers of round 0 are not summed, but all-gathered: every rank gets those of
     * each rank, and there is no round 1. Else return 0; the pointer may be NULL for this. Called
     * only when the reducer is opened. */
    int (*gathers)(const void *self);

    /* Return how many numbers encode a parameter in round 0 or 1; the same on all ranks. 0 in round
     * 0: the gradient is summed as it is, and round 1 must have 0, too. 0 in round 1 (always if the
     * codec gathers): there is no second sum. Called only when the reducer is opened. */
    size_t (*count)(const void *self, size_t param, int round);

    /* Write a round's numbers, by work that is queued on `queue`. Round 0 encodes the gradient to
     * numbers[0]; if the codec gathers, to numbers[0] + rank * stride. It may overwrite the
     * gradient. Round 1 encodes numbers[0], which now holds the sum over ranks, to numbers[1]. Do
     * not change state that is kept from step to step: the step may still be skipped. */
    void (*encode)(void *self, const ddp_codec_param *p, int round, ddp_device *queue);

    /* Set the gradient to the sum over ranks, decoded, and update state that is kept from step to
     * step. Called when work on d finds all numbers of the parameter. *ran, in the device's memory:
     * on how many ranks the parameter's layer ran. If it is 0, set the gradient to zero, and change
     * nothing else. Queue the work on d, the framework's queue. Work that nothing needs before the
     * next step may go on `queue`, after ddp_device_follow(queue, d). */
    void (*decode)(void *self, const ddp_codec_param *p, const float *ran, ddp_device *d,
                   ddp_device *queue);
} ddp_gradient_codec;

#endif
