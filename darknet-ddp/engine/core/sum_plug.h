/* core/sum_plug.h: how a bucket of gradients becomes its sum over ranks, where the gradients
 * themselves are not added. An algorithm (algorithms/) encodes each parameter's gradient into
 * numbers. Those are summed over ranks, and the algorithm decodes the sum into the gradient.
 *
 * The reducer owns the memory of these numbers, their sums, the order in which they start, and run
 * counts (core/rounds.h). A parameter that is not encoded is summed as it is. Calls come in one
 * order on every rank, from one thread, parameter by parameter. The numbers must be finite as
 * floats (algorithms/compression.h). */
#ifndef DDP_CORE_SUM_PLUG_H
#define DDP_CORE_SUM_PLUG_H

#include "device/device.h"

#include <stddef.h>

enum { DDP_SUM_ROUNDS = 2 }; /* most sums of a bucket, the second made of the first */

/* A parameter, its gradient and the numbers that encode it, in memory of the table's device. */
typedef struct ddp_plug_param {
    size_t param; /* index of the parameter in the table */
    float *gradient;
    float *numbers[DDP_SUM_ROUNDS]; /* numbers of each round; numbers[1] is NULL without round 1 */
    /* If ranks gather: floats from one rank's numbers to the next rank's, and numbers[0] is rank
     * 0's. Else 0. */
    size_t stride;
} ddp_plug_param;

typedef struct ddp_sum_plug {
    /* Return 1 if every rank gets the numbers of round 0 of each rank, rather than their sum; then
     * there is no round 1. NULL: 0. Called one time, when the reducer is opened. */
    int (*gathers)(const void *self);

    /* Return how many numbers of a parameter are summed in a round; the same on all ranks. Round 0
     * is the first sum. Round 1 is the second, whose numbers are made of the first one's result.
     * Returning 0 for round 0: the gradient is summed as it is. Returning 0 for round 1: there is
     * no second sum. Called one time, when the reducer is opened. */
    size_t (*count)(const void *self, size_t param, int round);

    /* Make the numbers of a round. Round 0: from the gradient, which may change, to numbers[0];
     * where ranks gather, to this rank's place there. Round 1: from numbers[0], which has the sum
     * over ranks, to numbers[1]. Queue the work on `queue`. State that is kept from step to step
     * must not change: the step may still be skipped. */
    void (*fill)(void *self, const ddp_plug_param *p, int round, ddp_device *queue);

    /* Set the gradient to the sum over ranks, decoded, and the kept state to what the next step
     * begins with. Called when the sums of all rounds, or all ranks' numbers, are there. *ran, in
     * the device's memory: how many ranks ran the parameter's layer. If it is 0, set the
     * gradient to zero, and change nothing else. Queue the work on d, the framework's queue, or on
     * `queue` if nothing needs it before the next step. */
    void (*land)(void *self, const ddp_plug_param *p, const float *ran, ddp_device *d,
                 ddp_device *queue);
} ddp_sum_plug;

#endif
