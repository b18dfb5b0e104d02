#include "algorithms/error_feedback.h"

#include <stdlib.h>

/* A parameter goes as it is where compressing does not divide what is told of it by more. */
enum { LEAST = 2 };

ddp_matrix ddp_matrix_of(const ddp_options *o, const ddp_param *param, ddp_matrix_numbers *numbers)
{
    ddp_matrix m = {.rows = param->rows, .count = param->count};

    if (m.rows < 2 || m.count % m.rows)
        return (ddp_matrix){.count = param->count};
    m.columns = m.count / m.rows;
    for (int round = 0; round < DDP_SUM_ROUNDS; round++)
        m.numbers[round] = numbers(o, m.rows, m.columns, round);
    return (m.numbers[0] + m.numbers[1]) * LEAST < m.count ? m : (ddp_matrix){.count = m.count};
}

/* ---- opening ---- */

static ddp_status declare_errors(ddp_error_feedback *f, ddp_error *err)
{
    static const ddp_state_spec spec = {.name = "error", .kind = DDP_STATE_OF_RANK};
    size_t *counts = calloc(f->param_count + 1, sizeof *counts);
    ddp_status st;

    if (!counts)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to list %zu parameters", f->param_count);
    for (size_t i = 0; i < f->param_count; i++)
        counts[i] = f->parts[i].rows ? f->parts[i].count : 0;
    st = ddp_state_add(f->state, &spec, counts, &f->errors, err);
    free(counts);
    return st;
}

ddp_status ddp_error_feedback_open(ddp_error_feedback *f, const ddp_algorithm_of *of,
                                   ddp_matrix_numbers *numbers, ddp_error *err)
{
    const ddp_param_table *table = of->table;
    ddp_matrix *parts = calloc(table->param_count + 1, sizeof *parts);

    *f = (ddp_error_feedback){.options = of->options,
                              .group = of->group,
                              .state = of->state,
                              .parts = parts,
                              .param_count = table->param_count};
    if (!parts)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to list %zu parameters", f->param_count);
    for (size_t i = 0; i < table->param_count; i++)
        if (table->params[i].layer >= table->first_trained)
            parts[i] = ddp_matrix_of(of->options, &table->params[i], numbers);
    return declare_errors(f, err);
}

void ddp_error_feedback_close(ddp_error_feedback *f)
{
    free((void *)f->parts);
}

float *ddp_error_feedback_error(const ddp_error_feedback *f, size_t param)
{
    return ddp_state_used(f->state, f->errors, param);
}

size_t ddp_error_feedback_count(const void *self, size_t param, int round)
{
    const ddp_error_feedback *f = self;

    return f->parts[param].numbers[round];
}

ddp_status ddp_error_feedback_attach(void *self, const ddp_attached *a, ddp_error *err)
{
    ddp_error_feedback *f = self;

    (void)err;
    f->reducer = a->reducer;
    return DDP_OK;
}

/* ---- words ---- */

static int compresses(const ddp_error_feedback *f)
{
    for (size_t i = 0; i < f->param_count; i++)
        if (f->parts[i].rows)
            return 1;
    return 0;
}

static double megabytes(size_t floats)
{
    return (double)floats * sizeof(float) / 1e6;
}

void ddp_error_feedback_print(const ddp_error_feedback *f, FILE *out, const char *how)
{
    char text[DDP_COMPRESS_TEXT];

    if (!compresses(f)) {
        (void)fprintf(
            out,
            "DDP: -ddp_compress %s would make no matrix of this network smaller: gradients "
            "travel as they are\n",
            ddp_compress_choice_format(&f->options->compress, text));
        return;
    }
    (void)fprintf(out,
                  "DDP: gradients travel by %s: %.3f MB of %.3f, and ranks keep what that leaves "
                  "out for later",
                  how, megabytes(ddp_reducer_count(f->reducer)),
                  megabytes(ddp_reducer_plan(f->reducer)->count));
    if (f->options->compress_after > 0)
        (void)fprintf(out, ", from step %d on", f->options->compress_after + 1);
    (void)fputs("\n", out);
}

void ddp_error_feedback_print_resumed(int was, int now)
{
    if (was == now || was <= 1)
        return;
    if (now == 1)
        printf("DDP: what %d ranks have kept of compressed gradients is lost: a rank that is "
               "alone compresses nothing\n",
               was);
    else
        printf("DDP: what %d ranks have kept of compressed gradients is added up on %d\n", was,
               now);
}
