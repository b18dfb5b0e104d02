/* The compression of -ddp_compress topk:P: Stich, Cordonnier and Jaggi 2018, "Sparsified SGD with
 * Memory".
 *
 * Let g be this rank's gradient, e its error (what it has not sent before:
 * algorithms/compression.h), and M = g + e. Of each 2^24 elements of M the rank sends the P percent
 * that are largest in magnitude, at least one, and their indices (top_k.h). The rest becomes e.
 * Each rank adds up what all ranks send, in the order of ranks. */
#include "algorithms/compression.h"
#include "algorithms/topk/largest.h"

#include <stdlib.h>

struct topk {
    ddp_device *device;
    float *scratch; /* of a GPU */
};

static size_t send_count(double value, size_t rows, size_t columns, int round)
{
    return round == 0 ? ddp_top_k_numbers(rows * columns, value) : 0;
}

/* A rank sends two numbers for each element to each other rank; for an all-reduce it would send
 * each element twice. */
static ddp_status check(double value, int ranks, ddp_error *err)
{
    double most = 100.0 / ranks;

    if (value <= most)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "-ddp_compress topk:%g on %d ranks sends more than gradients as they are: "
                    "at most topk:%.3g does not",
                    value, ranks, most);
}

static void close_top_k(void *self)
{
    struct topk *t = self;

    if (t->scratch)
        ddp_device_free(t->device, t->scratch);
    free(t);
}

static ddp_status open_top_k(void **self, const ddp_compression_of *of, ddp_error *err)
{
    struct topk *t = calloc(1, sizeof *t);

    *self = t;
    if (!t)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for top-k");
    t->device = of->device;
    if (!ddp_device_is_host(t->device)
        && ddp_device_alloc(t->device, &t->scratch, DDP_LARGEST_SCRATCH, err))
        return ddp_wrap(err, "top-k");
    return DDP_OK;
}

static void encode(void *self, const ddp_matrix *m, int round, ddp_device *queue)
{
    const struct topk *t = self;

    (void)round; /* there is one */
    ddp_largest_encode(queue, m, t->scratch);
}

static void decode(void *self, const ddp_matrix *m, const float *ran, ddp_device *queue,
                   ddp_device *aside)
{
    (void)self;
    (void)aside;
    ddp_largest_decode(queue, m, ran);
}

const ddp_compression ddp_compression_topk = {
    .how = "the largest #% of each matrix",
    .gathers = 1,
    .send_count = send_count,
    .encode = encode,
    .decode = decode,
    .check = check,
    .open = open_top_k,
    .close = close_top_k,
};
