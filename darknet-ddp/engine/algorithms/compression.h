/* algorithms/compression.h: a way to compress gradients, which a word of -ddp_compress asks for.
 *
 * NAME/NAME.c defines ddp_compression_NAME, and a line COMPRESSION(NAME, ...) of algorithms.def
 * makes it a word. signsgd/ is a short one to read.
 *
 * All have error feedback in common (Karimireddy et al. 2019, "Error Feedback Fixes SignSGD and
 * other Gradient Compression Schemes"), which compressor.c looks after. For each weight matrix a
 * rank keeps its own error e: what of its gradients has not been sent yet. With this step's
 * gradient g:
 *
 *     M = g + e, of which a rank sends the others some numbers           encode
 *     g becomes the sum over ranks of what these numbers say of M,
 *     e becomes M minus what this rank sent of it                        decode
 *
 * Rules for the numbers:
 *   - Each must be finite when it is read as a float, or the run ends as if a gradient were NaN.
 *     So at most 30 bits of any kind fit into one (signsgd/signsgd.c).
 *   - With gathers = 0 they are added over ranks, as floats; so packed bits need gathers = 1.
 *   - They depend on the matrix and its error alone: -ddp_bucket_mb must not change the result.
 *
 * Errors are saved. A run that goes on on fewer ranks adds some of them up: gradients are sums over
 * ranks, so only the sum of all errors matters. A parameter that is no matrix is summed as it is,
 * and so is a matrix whose numbers would be half of its elements or more. A rank that is alone
 * compresses nothing. A step may be skipped between encode and decode: encode changes no error. */
#ifndef DDP_ALGORITHMS_COMPRESSION_H
#define DDP_ALGORITHMS_COMPRESSION_H

#include "base/status.h"
#include "core/gradient_codec.h"
#include "core/state.h"
#include "device/device.h"

#include <stddef.h>

/* A weight matrix, in memory of the device that trains. */
typedef struct ddp_matrix {
    size_t param;                        /* index of the parameter in the network's table */
    size_t rows, columns;                /* both 0: the parameter is not compressed */
    size_t count;                        /* how many elements the matrix has */
    size_t send_count[DDP_CODEC_ROUNDS]; /* floats that a rank sends in each round */
    double value;    /* number behind the word of -ddp_compress: 2 in "powersgd:2" */
    int rank, ranks; /* number of this rank; number of ranks */

    float *gradient,
        *error; /* `count` floats each. encode adds error to gradient; decode sets both */
    /* The numbers of each round: encode writes this rank's, and after the sum they are those of all
     * ranks added. With `gathers`, numbers[0] is the place of rank 0's. encode then writes to this
     * rank's place (ddp_matrix_payload_of), and each rank's arrive in its place, not added. */
    float *numbers[DDP_CODEC_ROUNDS];
    size_t stride; /* with `gathers`: floats from one rank's numbers to the next one's */
} ddp_matrix;

/* Return the round-0 numbers of a rank, m->send_count[0] floats. Only with `gathers`. */
static inline float *ddp_matrix_payload_of(const ddp_matrix *m, int rank)
{
    return m->numbers[0] + (size_t)rank * m->stride;
}

/* The arguments of ddp_compression.open: the run that it is opened for. */
typedef struct ddp_compression_of {
    double value;               /* number behind the word of -ddp_compress */
    ddp_device *device;         /* device that the network trains on */
    ddp_state *state;           /* where the compression declares arrays that are to be saved */
    const ddp_matrix *matrices; /* a matrix for each parameter; their pointers are not set */
    size_t param_count;
} ddp_compression_of;

/* A compression. Calls come in one order on every rank, from one thread, matrix by matrix. Their
 * first argument, self, is what open has set, or NULL. If a GPU has the matrix, encode and decode
 * queue their work on `queue`, and do not wait. */
typedef struct ddp_compression {
    /* end of the sentence "gradients travel by ..."; # stands for the number behind the word */
    const char *how;
    /* 1: each rank gets the numbers that each rank sends in round 0 (ddp_matrix_payload_of), and
     * there is no round 1. 0: it gets their sum. */
    int gathers;
    int on_cpus_only; /* 1: a run on GPUs is refused */

    /* Return how many numbers a rank sends of a rows x columns matrix in a round: 0, the first sum,
     * or 1, the second, which is made of the first. Returns 0 for round 1 if there is no second
     * sum. value: the number behind the word. */
    size_t (*numbers)(double value, size_t rows, size_t columns, int round);

    /* Make a round's numbers. Round 0: add error to gradient, and write numbers[0] from that (with
     * `gathers`, ddp_matrix_payload_of(m, m->rank)). Round 1: make numbers[1] of numbers[0], which
     * has the sum over ranks. */
    void (*encode)(void *self, const ddp_matrix *m, int round, ddp_device *queue);

    /* Called when all numbers have come. Set gradient and error as the head says. *ran, of the
     * device's memory, is on how many ranks the layer ran, or NaN if a number is not finite. If it
     * is 0, set the gradient to zero, and change nothing else. Work that only the next step needs
     * may be queued on `aside`. */
    void (*decode)(void *self, const ddp_matrix *m, const float *ran, ddp_device *queue,
                   ddp_device *aside);

    /* Fail with DDP_ERR_USAGE if the compression does not pay on `ranks` ranks, 2 or more. value:
     * the number behind the word. NULL: it always pays. */
    ddp_status (*check)(double value, int ranks, ddp_error *err);
    /* Set *self, which close frees, also if open fails afterwards. open NULL: nothing is opened.
     * close NULL: nothing is freed. */
    ddp_status (*open)(void **self, const ddp_compression_of *of, ddp_error *err);
    void (*close)(void *self);
} ddp_compression;

#endif
