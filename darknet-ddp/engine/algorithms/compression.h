/* algorithms/compression.h: a way to compress gradients, which a word of -ddp_compress asks for.
 *
 * NAME/NAME.c defines ddp_compression_NAME, and a line COMPRESSION(NAME, ...) of algorithms.def
 * makes it a word. signsgd/ is a short one to read.
 *
 * All have error feedback in common (Karimireddy et al. 2019, "Error Feedback Fixes SignSGD and
 * other Gradient Compression Schemes"), which compressor.c looks after. For each weight matrix a
 * rank keeps its own error e: the part of its gradients that has not been sent yet. With this
 * step's gradient g:
 *
 *     M = g + e, of which a rank sends the others some numbers           encode
 *     g becomes the sum over ranks of what these numbers say of M,
 *     e becomes M minus what this rank sent of it                        decode
 *
 * Errors are saved, and on another number of ranks added up: gradients are sums over ranks, so the
 * sum of all errors is what counts, and it stays. Parameters that are no matrices, or of which
 * compressing would not send less than half, are summed as they are. A rank that is alone
 * compresses nothing. A step may be dropped between encode and decode: encode changes no error. */
#ifndef DDP_ALGORITHMS_COMPRESSION_H
#define DDP_ALGORITHMS_COMPRESSION_H

#include "base/status.h"
#include "core/state.h"
#include "core/sum_plug.h"
#include "device/device.h"

#include <stddef.h>

/* A weight matrix, in memory of the device that trains. */
typedef struct ddp_matrix {
    size_t param;                      /* of the network's parameters */
    size_t rows, columns;              /* 0: it is not compressed */
    size_t count;                      /* elements */
    size_t send_count[DDP_SUM_ROUNDS]; /* numbers that a rank tells of it */
    double value;                      /* the number behind the word of -ddp_compress */
    int rank, ranks;                   /* this one, of so many */

    float *gradient, *error; /* count each. gradient: g for encode, M between encode and decode */
    /* What is told in each round: this rank's for encode, the sum over ranks from then on. With
     * `gathers` all ranks' in numbers[0], one behind the other: see ddp_matrix_payload_of. */
    float *numbers[DDP_SUM_ROUNDS];
    size_t stride;
} ddp_matrix;

/* With `gathers`: what a rank tells. */
static inline float *ddp_matrix_payload_of(const ddp_matrix *m, int rank)
{
    return m->numbers[0] + (size_t)rank * m->stride;
}

/* What a compression that keeps more than errors is opened for. */
typedef struct ddp_compression_of {
    double value;
    ddp_device *device;
    ddp_state *state;           /* declare arrays here that are to be saved */
    const ddp_matrix *matrices; /* of each parameter, without memory */
    size_t param_count;
} ddp_compression_of;

/* Calls come in one order on every rank, from one thread, matrix by matrix. self is what open has
 * set, or NULL. Of matrices that a GPU has, encode and decode queue their work on `queue`. */
typedef struct ddp_compression {
    const char *how;  /* ends "gradients travel by ..."; # stands for the number behind the word */
    int gathers;      /* 1: ranks get each other's numbers, not their sum; there is no round 1 */
    int on_cpus_only; /* 1: a run on GPUs is refused */

    /* How many numbers a rank tells of a matrix in round 0, and in round 1, which is made of round
     * 0's sum; 0: there is no round 1. */
    size_t (*numbers)(double value, size_t rows, size_t columns, int round);

    /* Round 0: gradient += error, and the numbers of it. Round 1: numbers[1], where numbers[0] is
     * the sum over ranks. */
    void (*encode)(void *self, const ddp_matrix *m, int round, ddp_device *queue);

    /* All numbers are there. *ran, of the device's memory: on how many ranks the layer ran. Above 0
     * (or NaN, of numbers that are not finite): set gradient and error as the head says. Else the
     * gradient becomes zero, and nothing else changes. What only the next step needs may be queued
     * on `aside`. */
    void (*decode)(void *self, const ddp_matrix *m, const float *ran, ddp_device *queue,
                   ddp_device *aside);

    /* Each may be NULL. Does it pay on so many ranks, more than one? DDP_ERR_USAGE: why not. */
    ddp_status (*check)(double value, int ranks, ddp_error *err);
    /* open sets *self, which close frees; close is called where open failed, too. */
    ddp_status (*open)(void **self, const ddp_compression_of *of, ddp_error *err);
    void (*close)(void *self);
} ddp_compression;

#endif
