/* Sign-SGD with error feedback: Karimireddy, Rebjock, Stich and Jaggi 2019, "Error Feedback Fixes
 * SignSGD and other Gradient Compression Schemes", algorithm 1 (EF-SIGNSGD). With g this rank's
 * gradient of a matrix of n elements, e its error (algorithms/error_feedback.h):
 *
 *     M = g + e
 *     scale = mean of |M|
 *     the gradient becomes the sum over ranks of scale sign(M), in the order of ranks
 *     e becomes M - scale sign(M) of this rank
 *
 * Ranks tell each other scale and signs: 30 signs to a float, as the bits of a whole number below
 * 2^30, which read as a float is finite (comm/allgather.h). That is about a thirtieth of n. It is
 * computed on CPUs alone. */
#include "algorithms/error_feedback.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SIGNS = 30 };

static int is_on(const ddp_options *o)
{
    return o->compress.word == DDP_CHOICE_signsgd;
}

/* The scale, then the signs. */
static size_t numbers(const ddp_options *o, size_t rows, size_t columns, int round)
{
    (void)o;
    return round == 0 ? 1 + (rows * columns + SIGNS - 1) / SIGNS : 0;
}

static ddp_status check_run(const ddp_algorithm_of *of, ddp_error *err)
{
    if (ddp_device_is_host(of->device))
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "-ddp_compress signsgd works on CPUs: with -nogpu, or another word for GPUs");
}

/* ---- opening ---- */

static void close(void *self)
{
    ddp_error_feedback *f = self;

    ddp_error_feedback_close(f);
    free(f);
}

static ddp_status open(void **self, const ddp_algorithm_of *of, ddp_error *err)
{
    ddp_error_feedback *f;

    if (ddp_group_size(of->group) == 1)
        return DDP_OK;
    f = calloc(1, sizeof *f);
    if (!f)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for sign-SGD");
    if (ddp_error_feedback_open(f, of, numbers, err)) {
        close(f);
        return err->code;
    }
    *self = f;
    return DDP_OK;
}

/* ---- a bucket ---- */

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

/* x += scale sign, of what a rank tells. */
static void add_signs(float *x, const float *told, size_t count, float scale)
{
    for (size_t at = 0; at < count; at += SIGNS) {
        uint32_t bits;

        memcpy(&bits, ++told, sizeof bits);
        for (size_t i = at; i < count && i < at + SIGNS; i++)
            x[i] += bits >> (i - at) & 1U ? -scale : scale;
    }
}

static void fill(void *self, const ddp_sum_part *part, int round, ddp_device *queue)
{
    const ddp_error_feedback *f = self;
    size_t count = f->parts[part->param].count;
    float *told = part->numbers[0] + (size_t)ddp_group_rank(f->group) * part->stride;

    (void)round; /* there is one */
    ddp_device_add(queue, part->gradient, ddp_error_feedback_error(f, part->param), count);
    told[0] = mean_magnitude(part->gradient, count);
    write_signs(told + 1, part->gradient, count);
}

static void land(void *self, const ddp_sum_part *part, const float *ran, ddp_device *d,
                 ddp_device *queue)
{
    const ddp_error_feedback *f = self;
    size_t count = f->parts[part->param].count;
    float *error = ddp_error_feedback_error(f, part->param);
    int me = ddp_group_rank(f->group), ran_nowhere = *ran <= 0;

    (void)queue;
    if (!ran_nowhere) {
        const float *told = part->numbers[0] + (size_t)me * part->stride;

        ddp_device_copy(d, error, part->gradient, count);
        add_signs(error, told, count, -told[0]);
    }
    ddp_device_zero(d, part->gradient, count);
    for (int rank = 0; rank < ddp_group_size(f->group) && !ran_nowhere; rank++) {
        const float *told = part->numbers[0] + (size_t)rank * part->stride;

        add_signs(part->gradient, told, count, told[0]);
    }
}

static const ddp_sum_plug sum = {
    .gathers = 1, .count = ddp_error_feedback_count, .fill = fill, .land = land};

/* ---- words ---- */

static void print(const void *self, FILE *out)
{
    if (self)
        ddp_error_feedback_print(self, out, "signs and a scale of each matrix");
}

static size_t sends(const ddp_options *o, const ddp_param *param, int ranks)
{
    ddp_matrix m = ddp_matrix_of(o, param, numbers);

    return m.rows ? m.numbers[0] * (size_t)ranks / 2 : m.count;
}

const ddp_algorithm ddp_algorithm_signsgd = {
    .name = "signsgd",
    .example = "-ddp_compress signsgd",
    .claims = {.decides = DDP_DECIDES_SUM | DDP_DECIDES_ORDER,
               .breaks = DDP_PROMISE_EXACT,
               .relies = DDP_PROMISE_SUMS}, /* what a rank keeps waits for the next sum */
    .sums = "what is compressed",
    .is_on = is_on,
    .check_run = check_run,
    .open = open,
    .attach = ddp_error_feedback_attach,
    .close = close,
    .sum = &sum,
    .print = print,
    .print_resumed = ddp_error_feedback_print_resumed,
    .sends = sends,
};
