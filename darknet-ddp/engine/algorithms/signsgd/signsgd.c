/* The compression of -ddp_compress signsgd: sign-SGD with error feedback, after algorithm 1
 * (EF-SIGNSGD) of Karimireddy, Rebjock, Stich and Jaggi 2019, "Error Feedback Fixes SignSGD and
 * other Gradient Compression Schemes". Let g be this rank's gradient of a matrix of n elements, and
 * e its error (what it has not sent before: algorithms/compression.h):
 *
 *     M = g + e, where the sign of 0 counts as +
 *     scale = mean of |M|
 *     the gradient becomes the sum over ranks of scale sign(M), in the order of ranks
 *     e becomes M - scale sign(M) of this rank
 *
 * Each rank sends every other one its scale and signs: about n / 30 floats. A float carries 30
 * signs, as the bits of a whole number below 2^30; read as a float, these bits are finite
 * (comm/work.h). Signs are computed on CPUs alone. */
#include "algorithms/compression.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { SIGNS = 30 };

/* The scale, then the signs. */
static size_t send_count(double value, size_t rows, size_t columns, int round)
{
    (void)value;
    return round == 0 ? 1 + (rows * columns + SIGNS - 1) / SIGNS : 0;
}

/* A rank sends its numbers to each other rank; in an all-reduce it sends each element twice. */
static ddp_status check(double value, int ranks, ddp_error *err)
{
    const int most = 2 * SIGNS;

    (void)value;
    if (ranks <= most)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "-ddp_compress signsgd on %d ranks sends more than gradients as they are: on "
                    "at most %d it does not",
                    ranks, most);
}

static float mean_magnitude(const float *m, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += fabs((double)m[i]);
    return (float)(sum / (double)count);
}

/* A bit for each that is below zero. */
static void write_signs(float *out, const float *m, size_t count)
{
    for (size_t at = 0; at < count; at += SIGNS, out++) {
        uint32_t bits = 0;

        for (size_t i = at; i < count && i < at + SIGNS; i++)
            bits |= (uint32_t)(m[i] < 0) << (i - at);
        memcpy(out, &bits, sizeof bits);
    }
}

/* Add scale times the signs that a rank has sent to x. */
static void add_signs(float *x, const float *numbers, size_t count, float scale)
{
    for (size_t at = 0; at < count; at += SIGNS) {
        uint32_t bits;

        memcpy(&bits, ++numbers, sizeof bits);
        for (size_t i = at; i < count && i < at + SIGNS; i++)
            x[i] += bits >> (i - at) & 1U ? -scale : scale;
    }
}

static void encode(void *self, const ddp_matrix *m, int round, ddp_device *queue)
{
    float *numbers = ddp_matrix_payload_of(m, m->rank);

    (void)self;
    (void)round; /* there is one */
    ddp_device_add(queue, m->gradient, m->error, m->count);
    numbers[0] = mean_magnitude(m->gradient, m->count);
    write_signs(numbers + 1, m->gradient, m->count);
}

static void decode(void *self, const ddp_matrix *m, const float *ran, ddp_device *queue,
                   ddp_device *aside)
{
    const float *numbers = ddp_matrix_payload_of(m, m->rank);
    int ran_nowhere = *ran <= 0;

    (void)self;
    (void)aside;
    if (!ran_nowhere) {
        ddp_device_copy(queue, m->error, m->gradient, m->count);
        add_signs(m->error, numbers, m->count, -numbers[0]);
    }
    ddp_device_zero(queue, m->gradient, m->count);
    for (int rank = 0; rank < m->ranks && !ran_nowhere; rank++) {
        numbers = ddp_matrix_payload_of(m, rank);
        add_signs(m->gradient, numbers, m->count, numbers[0]);
    }
}

const ddp_compression ddp_compression_signsgd = {
    .how = "signs and a scale of each matrix",
    .gathers = 1,
    .on_cpus_only = 1,
    .send_count = send_count,
    .encode = encode,
    .decode = decode,
    .check = check,
};
