/* Helpers of the tests of compressions on a GPU: tests/gpu/NAME.c in an algorithm's folder is the
 * program compress_NAME.
 *
 *  compress_NAME host        of one matrix: what a device computes, against what the host does
 *  compress_NAME nccl|mpi    of a network, on the ranks of an mpirun, 4 at most: against its
 *                            definition (../unit/compressed.h)
 *
 * Steps are queued as in training: nothing waits for the GPU between a pass and its sums. So a
 * missing order between its queues shows in the values. Exit status: 77 without a GPU. Ranks fail
 * together.
 */
#ifndef DDP_TESTS_GPU_COMPRESS_H
#define DDP_TESTS_GPU_COMPRESS_H

#include "unit/compressed.h"

struct compress_test {
    const struct compressed_net *net;
    int ordered; /* 1: sums have the same bits in each run, with NCCL, too */
    /* Compare, by compress_expect, what `queue` computes of a matrix with what the host does. */
    void (*compare)(ddp_device *queue);
};

int compress_main(int argc, char **argv, const struct compress_test *test);

/* Allocate zeroed memory. */
void *compress_room(size_t count, size_t bytes);

/* Fill x with whole numbers: products and their sums are exact in any order, up to 2^24. */
void compress_fill(float *x, size_t count, unsigned seed);

/* Allocate and fill host memory, and memory of a device with the same numbers in *there. */
float *compress_both(ddp_device *d, float **there, size_t count, unsigned seed);
float *compress_on_device(ddp_device *d, const float *host, size_t count);

/* Fail unless the numbers got are those wanted, up to the tolerance; 0: the same bits. */
void compress_expect(ddp_device *d, const char *what, const float *got_there, const float *want,
                     size_t count, double tolerance);

#endif
