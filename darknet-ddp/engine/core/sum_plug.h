/* core/sum_plug.h: how a bucket of gradients becomes its sum over ranks, where the gradients
 * themselves are not added. An algorithm (algorithms/) encodes each parameter's gradient into
 * numbers, those are summed over ranks, and the algorithm decodes the sum into the gradient.
 *
 * The reducer owns the memory of these numbers, their sums, the order in which they start, run
 * counts, and what is finite, done or left out (core/rounds.h). A parameter that is not encoded is
 * summed as it is. Calls come in one order on every rank, from one thread, parameter by
 * parameter. */
#ifndef DDP_CORE_SUM_PLUG_H
#define DDP_CORE_SUM_PLUG_H

#include "device/device.h"

#include <stddef.h>

enum { DDP_SUM_ROUNDS = 2 };

/* A parameter and its numbers, all in memory of the table's device. */
typedef struct ddp_plug_param {
    size_t param; /* of the table */
    float *gradient;
    float *numbers[DDP_SUM_ROUNDS]; /* of each round; NULL: it has none */
    /* Where ranks gather: how far from one rank's numbers to the next one's. numbers[0] are rank
     * 0's. */
    size_t stride;
} ddp_plug_param;

typedef struct ddp_sum_plug {
    /* Do ranks get each other's numbers of round 0, rather than their sum? There is no round 1
     * then. NULL: no. Asked once, when the reducer is opened, as count is. */
    int (*gathers)(const void *self);

    /* How many numbers round 0 or 1 sums of a parameter, on each rank, the same on all. Round 0: 0:
     * the parameter is summed as it is. Round 1, which is made of round 0's sum: 0: there is none.
     * Asked once, when the reducer is opened. */
    size_t (*count)(const void *self, size_t param, int round);

    /* Make them: of round 0 of the gradient, which may change, to numbers[0] (where ranks gather,
     * to this rank's place there); of round 1 of numbers[0], which has the sum over ranks, to
     * numbers[1]. Work is queued on `queue`. What is kept from step to step stays as it is: a step
     * may be dropped yet. */
    void (*fill)(void *self, const ddp_plug_param *p, int round, ddp_device *queue);

    /* The sums of all rounds, or all ranks' numbers, are there: the gradient becomes the sum over
     * ranks, and what is kept what the next step begins with. *ran, of the device's memory: on how
     * many ranks the parameter's layer ran; where that is 0 the gradient becomes zero, and nothing
     * else changes. Work is queued on d, the framework's queue, or, where nothing waits for it
     * before the next step, on `queue`. */
    void (*land)(void *self, const ddp_plug_param *p, const float *ran, ddp_device *d,
                 ddp_device *queue);
} ddp_sum_plug;

#endif
