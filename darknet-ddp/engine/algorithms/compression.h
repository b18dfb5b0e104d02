/* algorithms/compression.h: the interface of a gradient compression, which a word of -ddp_compress
 * names. It is what PyTorch's DDP calls a communication hook.
 *
 * NAME/NAME.c defines ddp_compression_NAME, and a line COMPRESSION(NAME, ...) of algorithms.def
 * makes it a word. signsgd/ is a short example.
 *
 * A compression sends fewer numbers than a matrix's gradient has, and error feedback makes up for
 * the rest (Karimireddy et al. 2019, "Error Feedback Fixes SignSGD and other Gradient Compression
 * Schemes"). For each matrix every rank keeps an error: what of earlier gradients is not sent yet.
 * One step, for each matrix:
 *
 *   1. encode adds the error to the gradient, and makes numbers of the result M.
 *   2. The numbers are added over ranks or, with `gathers`, all-gathered. Added ones may have a
 *      second round, of numbers that are made of the first sum.
 *   3. decode sets the gradient to the sum over ranks of what was sent, and the error to M minus
 *      this rank's part of that sum.
 *
 * A step may be skipped between encode and decode, so encode does not change the error. The caller,
 * compressor.c, keeps the errors, and checkpoints hold them. If fewer ranks, but several, go on
 * with a run, errors are added up: only their sum over ranks matters. Not compressed are parameters
 * that are no matrix, matrices whose numbers would be half of their elements or more, and the first
 * steps (-ddp_compress_after). A rank that is alone compresses nothing.
 *
 * Rules for the numbers:
 *   - One that is not finite, read as a float, counts as a gradient that is NaN. So not all bits of
 *     a float are free: signsgd/signsgd.c uses 30.
 *   - With `gathers` 0 they are added as floats. So packed bits need `gathers` 1.
 *   - They do not depend on the bucket: -ddp_bucket_mb must not change the result. */
#ifndef DDP_ALGORITHMS_COMPRESSION_H
#define DDP_ALGORITHMS_COMPRESSION_H

#include "base/status.h"
#include "core/gradient_codec.h"
#include "core/state.h"
#include "device/device.h"

#include <stddef.h>

/* A parameter that is a weight matrix. Its arrays are in memory of the device that trains. */
typedef struct ddp_matrix {
    size_t param;                        /* index of the parameter in the network's table */
    size_t rows, columns;                /* both 0: the parameter is not compressed */
    size_t count;                        /* how many elements the matrix has */
    size_t send_count[DDP_CODEC_ROUNDS]; /* how many numbers a rank sends in each round */
    double value;    /* number behind the word of -ddp_compress: 2 in "powersgd:2" */
    int rank, ranks; /* number of this rank; number of ranks */

    /* `count` floats: this rank's before encode, the sum over ranks after decode */
    float *gradient;
    float *error; /* `count` floats: the part of earlier gradients that is not sent yet */
    /* Numbers of each round: this rank's after encode, then their sum over ranks. With `gathers`,
     * numbers[0] has a place for each rank's numbers (ddp_matrix_payload_of) instead. */
    float *numbers[DDP_CODEC_ROUNDS];
    size_t stride; /* with `gathers`: floats from one rank's numbers to the next one's */
} ddp_matrix;

/* Return the address of the m->send_count[0] numbers of a rank. Only with `gathers`. */
static inline float *ddp_matrix_payload_of(const ddp_matrix *m, int rank)
{
    return m->numbers[0] + (size_t)rank * m->stride;
}

/* The arguments of ddp_compression.open. What they point to outlives the compression. */
typedef struct ddp_compression_of {
    double value;               /* number behind the word of -ddp_compress */
    ddp_device *device;         /* device that the network trains on */
    ddp_state *state;           /* where the compression declares the arrays that it keeps */
    const ddp_matrix *matrices; /* matrices[i]: of parameter i; gradient, error, numbers are NULL */
    size_t param_count;
} ddp_compression_of;

/* A compression. Every rank makes the same calls in the same order, from one thread. self is what
 * open has set, or NULL. For a matrix on a GPU, encode and decode queue their work on `queue`, and
 * do not wait. */
typedef struct ddp_compression {
    /* end of the sentence "gradients travel by ...", with # for the number behind the word */
    const char *how;
    /* 0: numbers are added over ranks, in one round or two. 1: there is one round, in which each
     * rank gets the numbers of all ranks (ddp_matrix_payload_of) */
    int gathers;
    int on_cpus_only; /* 1: a run on GPUs is refused */

    /* Return how many numbers a rank sends of a rows x columns matrix in round 0 or 1. Returns 0
     * for round 1 if there is one round. value: the number behind the word of -ddp_compress. */
    size_t (*send_count)(double value, size_t rows, size_t columns, int round);

    /* Make the numbers that this rank sends. Round 0: add error to gradient, and write numbers[0]
     * from the result; with `gathers`, write them to ddp_matrix_payload_of(m, m->rank). Round 1:
     * write numbers[1] from numbers[0], which by now is the sum over ranks. */
    void (*encode)(void *self, const ddp_matrix *m, int round, ddp_device *queue);

    /* Set gradient and error from the numbers of all rounds, as the head of this file says.
     *   ran     in the device's memory: on how many ranks the layer ran. 0: only set the
     *           gradient to zero; NaN: a number is not finite
     *   aside   queue for work that nothing needs before the next step. First call
     *           ddp_device_follow(aside, queue) */
    void (*decode)(void *self, const ddp_matrix *m, const float *ran, ddp_device *queue,
                   ddp_device *aside);

    /* Fail with DDP_ERR_USAGE if a rank would send more on `ranks` ranks, 2 or more, than without
     * compression. value: the number behind the word. NULL: no number is refused. */
    ddp_status (*check)(double value, int ranks, ddp_error *err);
    /* Set *self to the compression's own data, which close frees, also after a failure. NULL: the
     * compression has no own data. */
    ddp_status (*open)(void **self, const ddp_compression_of *of, ddp_error *err);
    /* Free self, which is not NULL. A NULL function means: nothing is to be freed. */
    void (*close)(void *self);
} ddp_compression;

#endif
