/* Top-k: Stich, Cordonnier and Jaggi 2018, "Sparsified SGD with Memory". With g this rank's
 * gradient and e its error (algorithms/error_feedback.h), it tells of each M = g + e the so many
 * percent that are largest in magnitude, and where they are (top_k.h); what it has not told becomes
 * e. On each rank what all ranks tell is added up in the order of ranks. */
#include "algorithms/error_feedback.h"
#include "algorithms/topk/largest.h"

#include <stdlib.h>

struct topk {
    ddp_error_feedback feedback; /* first */
    ddp_device *device;
    float *scratch; /* of a GPU, while attached */
};

static int is_on(const ddp_options *o)
{
    return o->compress.word == DDP_CHOICE_topk;
}

static size_t numbers(const ddp_options *o, size_t rows, size_t columns, int round)
{
    return round == 0 ? ddp_top_k_numbers(rows * columns, o->compress.value) : 0;
}

/* For each element that a rank tells there are two numbers, which it sends to each other rank; of a
 * sum it would send the elements twice. */
static ddp_status check_ranks(const ddp_options *o, int ranks, ddp_error *err)
{
    double most = 100.0 / ranks;

    if (ranks == 1 || o->compress.value <= most)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "-ddp_compress topk:%g on %d ranks sends more than gradients as they are: "
                    "at most topk:%.3g does not",
                    o->compress.value, ranks, most);
}

/* ---- opening ---- */

static void close(void *self)
{
    struct topk *t = self;

    ddp_error_feedback_close(&t->feedback);
    free(t);
}

static ddp_status open(void **self, const ddp_algorithm_of *of, ddp_error *err)
{
    struct topk *t;

    if (ddp_group_size(of->group) == 1)
        return DDP_OK;
    t = calloc(1, sizeof *t);
    if (!t)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for top-k");
    if (ddp_error_feedback_open(&t->feedback, of, numbers, err)) {
        close(t);
        return err->code;
    }
    *self = t;
    return DDP_OK;
}

static ddp_status attach(void *self, const ddp_attached *a, ddp_error *err)
{
    struct topk *t = self;

    t->device = a->table->device;
    if (!ddp_device_is_host(t->device)
        && ddp_device_alloc(t->device, &t->scratch, DDP_LARGEST_SCRATCH, err))
        return ddp_wrap(err, "top-k");
    return ddp_error_feedback_attach(self, a, err);
}

static void detach(void *self)
{
    struct topk *t = self;

    if (t->scratch)
        ddp_device_free(t->device, t->scratch);
    t->scratch = NULL;
}

/* ---- a bucket ---- */

static ddp_largest largest_of(const struct topk *t, const ddp_sum_part *part)
{
    const ddp_error_feedback *f = &t->feedback;

    return (ddp_largest){.count = f->parts[part->param].count,
                         .percent = f->options->compress.value,
                         .m = part->gradient,
                         .error = ddp_error_feedback_error(f, part->param),
                         .told = part->numbers[0],
                         .stride = part->stride,
                         .rank = ddp_group_rank(f->group),
                         .ranks = ddp_group_size(f->group),
                         .scratch = t->scratch};
}

static void fill(void *self, const ddp_sum_part *part, int round, ddp_device *queue)
{
    ddp_largest x = largest_of(self, part);

    (void)round; /* there is one */
    ddp_largest_encode(queue, &x);
}

static void land(void *self, const ddp_sum_part *part, const float *ran, ddp_device *d,
                 ddp_device *queue)
{
    ddp_largest x = largest_of(self, part);

    (void)queue;
    ddp_largest_decode(d, &x, ran);
}

static const ddp_sum_plug sum = {
    .gathers = 1, .count = ddp_error_feedback_count, .fill = fill, .land = land};

/* ---- words ---- */

static void print(const void *self, FILE *out)
{
    const struct topk *t = self;
    char how[64];

    if (!t)
        return;
    (void)snprintf(how, sizeof how, "the largest %g%% of each matrix",
                   t->feedback.options->compress.value);
    ddp_error_feedback_print(&t->feedback, out, how);
}

static size_t sends(const ddp_options *o, const ddp_param *param, int ranks)
{
    ddp_matrix m = ddp_matrix_of(o, param, numbers);

    return m.rows ? m.numbers[0] * (size_t)ranks / 2 : m.count;
}

const ddp_algorithm ddp_algorithm_topk = {
    .name = "topk",
    .example = "-ddp_compress topk:1",
    .claims = {.decides = DDP_DECIDES_SUM | DDP_DECIDES_ORDER,
               .breaks = DDP_PROMISE_EXACT,
               .relies = DDP_PROMISE_SUMS}, /* what a rank keeps waits for the next sum */
    .sums = "what is compressed",
    .is_on = is_on,
    .check_ranks = check_ranks,
    .open = open,
    .attach = attach,
    .detach = detach,
    .close = close,
    .sum = &sum,
    .print = print,
    .print_resumed = ddp_error_feedback_print_resumed,
    .sends = sends,
};
