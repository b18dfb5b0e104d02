#include "core/feedback.h"

#include "base/pages.h"
#include "base/random.h"
#include "core/top_k.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ddp_feedback {
    ddp_compress_config config;
    size_t count;      /* of parameters */
    ddp_shape *shapes; /* of each; rows is 0 where it goes plain */
    size_t *places;    /* of each, where its error begins in a rank's errors */
    size_t *q_places;
    size_t error_count; /* elements of a rank's errors */
    size_t q_count;
    float *errors; /* this rank's */
    float *q;
    int gathered; /* ranks */
    float *all;   /* their errors, one rank after the other */
};

/* ---- what is compressed ---- */

ddp_shape ddp_compress_shape(const ddp_compress_config *config, const ddp_param *param)
{
    ddp_shape s = {.rows = param->rows};
    size_t told;

    if (config->method == DDP_COMPRESS_NONE || s.rows < 2 || param->count % s.rows)
        return (ddp_shape){0};
    s.columns = param->count / s.rows;
    if (config->method == DDP_COMPRESS_TOP_K) {
        told = ddp_top_k_numbers(param->count, config->percent);
    } else {
        s.rank = (size_t)config->rank;
        told = (s.rows + s.columns) * s.rank;
    }
    return told * DDP_COMPRESS_LEAST < param->count ? s : (ddp_shape){0};
}

size_t ddp_compress_sends(const ddp_compress_config *config, const ddp_param *param, int ranks)
{
    ddp_shape s = ddp_compress_shape(config, param);

    if (!s.rows)
        return param->count;
    if (config->method == DDP_COMPRESS_TOP_K)
        return (size_t)ranks * ddp_top_k_numbers(param->count, config->percent);
    return (s.rows + s.columns) * s.rank;
}

/* ---- opening ---- */

static void draw_column(const ddp_feedback *f, size_t i, size_t column)
{
    ddp_shape s = f->shapes[i];
    float *q = f->q + f->q_places[i] + column * s.columns;
    ddp_random random;

    ddp_random_init(&random, 0, ddp_random_topic(DDP_PURPOSE_COMPRESS, (int)column), i);
    for (size_t j = 0; j < s.columns; j++)
        q[j] = ddp_random_unit(&random) - 0.5F;
}

static int is_zero(const float *x, size_t count)
{
    size_t i = 0;

    while (i < count && fpclassify(x[i]) == FP_ZERO)
        i++;
    return i == count;
}

void ddp_feedback_renew_q(const ddp_feedback *f, size_t i)
{
    ddp_shape s = f->shapes[i];
    float *q = f->q + f->q_places[i];
    int drawn = 0;

    ddp_matrix_orthogonalize(q, s.columns, s.rank);
    for (size_t k = 0; k < s.rank; k++)
        if (is_zero(q + k * s.columns, s.columns)) {
            draw_column(f, i, k);
            drawn = 1;
        }
    if (drawn)
        ddp_matrix_orthogonalize(q, s.columns, s.rank);
}

static ddp_status allocate(ddp_feedback *f, ddp_error *err)
{
    f->errors = ddp_pages_alloc(f->error_count * sizeof *f->errors);
    f->q = calloc(f->q_count + 1, sizeof *f->q);
    if (!f->errors || !f->q)
        return ddp_fail(err, DDP_ERR_NOMEM,
                        "no memory for what compression of %zu gradients remembers",
                        f->error_count);
    return DDP_OK;
}

static ddp_status measure(ddp_feedback *f, const ddp_table *table, ddp_error *err)
{
    f->count = table->param_count;
    f->shapes = calloc(f->count + 1, sizeof *f->shapes);
    f->places = calloc(f->count + 1, sizeof *f->places);
    f->q_places = calloc(f->count + 1, sizeof *f->q_places);
    if (!f->shapes || !f->places || !f->q_places)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to list %zu parameters", f->count);
    for (size_t i = 0; i < f->count; i++) {
        if (table->params[i].layer < table->first_trained)
            continue;
        f->shapes[i] = ddp_compress_shape(&f->config, &table->params[i]);
        f->places[i] = f->error_count;
        f->q_places[i] = f->q_count;
        f->error_count += f->shapes[i].rows * f->shapes[i].columns;
        f->q_count += f->shapes[i].columns * f->shapes[i].rank;
    }
    return DDP_OK;
}

ddp_status ddp_feedback_open(ddp_feedback **out, const ddp_table *table,
                             const ddp_compress_config *config, ddp_error *err)
{
    ddp_feedback *f = calloc(1, sizeof *f);
    ddp_status st;

    *out = NULL;
    if (!f)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for error feedback");
    f->config = *config;
    st = measure(f, table, err);
    if (!st)
        st = allocate(f, err);
    if (st) {
        ddp_feedback_close(f);
        return st;
    }
    for (size_t i = 0; i < f->count; i++)
        ddp_feedback_renew_q(f, i);
    *out = f;
    return DDP_OK;
}

void ddp_feedback_close(ddp_feedback *f)
{
    if (!f)
        return;
    free(f->shapes);
    free(f->places);
    free(f->q_places);
    free(f->errors);
    free(f->q);
    free(f->all);
    free(f);
}

size_t ddp_feedback_params(const ddp_feedback *f)
{
    return f->count;
}

ddp_compress_config ddp_feedback_config(const ddp_feedback *f)
{
    return f->config;
}

ddp_shape ddp_feedback_shape(const ddp_feedback *f, size_t i)
{
    return f->shapes[i];
}

float *ddp_feedback_error(const ddp_feedback *f, size_t i)
{
    return f->shapes[i].rows ? f->errors + f->places[i] : NULL;
}

float *ddp_feedback_q(const ddp_feedback *f, size_t i)
{
    return f->shapes[i].rank ? f->q + f->q_places[i] : NULL;
}

/* ---- all ranks', on rank 0 ---- */

ddp_status ddp_feedback_reserve(ddp_feedback *f, int ranks, ddp_error *err)
{
    float *all = calloc((size_t)ranks * f->error_count + 1, sizeof *all);

    if (!all)
        return ddp_fail(err, DDP_ERR_NOMEM,
                        "no memory for the errors of %d ranks' compressed gradients, %zu numbers "
                        "of each",
                        ranks, f->error_count);
    free(f->all);
    f->all = all;
    f->gathered = ranks;
    return DDP_OK;
}

int ddp_feedback_gathered(const ddp_feedback *f)
{
    return f->gathered;
}

float *ddp_feedback_gathered_error(const ddp_feedback *f, int rank, size_t i)
{
    if (!f->shapes[i].rows)
        return NULL;
    return f->all + (size_t)rank * f->error_count + f->places[i];
}

ddp_status ddp_feedback_gather(ddp_feedback *f, ddp_group *group, ddp_error *err)
{
    int size = ddp_group_size(group), me = ddp_group_rank(group);
    size_t bytes = f->error_count * sizeof *f->errors;

    if (me == 0 && ddp_feedback_reserve(f, size, err))
        return err->code;
    if (me == 0)
        memcpy(f->all, f->errors, bytes);
    for (int rank = 1; rank < size; rank++) {
        float *to = me == 0 ? f->all + (size_t)rank * f->error_count : f->errors;

        if (ddp_transfer(group, to, bytes, rank, 0, err))
            return ddp_wrap(err, "errors of rank %d's compressed gradients", rank);
    }
    return DDP_OK;
}

/* Errors of a rank there was, to the one that goes on with them: its own at first, and others' of a
 * run with more ranks, by way of scratch, added to them. */
static ddp_status hand_back(ddp_feedback *f, ddp_group *group, int from, float *scratch,
                            ddp_error *err)
{
    size_t bytes = f->error_count * sizeof *f->errors;
    int me = ddp_group_rank(group), to = from % ddp_group_size(group);
    float *errors = from == me ? f->errors : scratch;

    if (me == 0 && to == 0)
        memcpy(errors, f->all + (size_t)from * f->error_count, bytes);
    else if (ddp_transfer(group, me == 0 ? f->all + (size_t)from * f->error_count : errors, bytes,
                          0, to, err))
        return ddp_wrap(err, "errors of rank %d's compressed gradients", from);
    if (me == to && from != me) /* the first without an addition: -0 stays -0 */
        for (size_t i = 0; i < f->error_count; i++)
            f->errors[i] += scratch[i];
    return DDP_OK;
}

static ddp_status hand_back_all(ddp_feedback *f, ddp_group *group, int from, ddp_error *err)
{
    float *scratch = NULL;
    ddp_status st = DDP_OK;

    if (from > ddp_group_size(group) && !(scratch = calloc(f->error_count + 1, sizeof *scratch)))
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu errors of a rank", f->error_count);
    if (from > 0)
        memset(f->errors, 0, f->error_count * sizeof *f->errors);
    for (int rank = 0; rank < from && !st; rank++)
        st = hand_back(f, group, rank, scratch, err);
    free(scratch);
    return st;
}

ddp_status ddp_feedback_scatter(ddp_feedback *f, ddp_group *group, int *ranks, ddp_error *err)
{
    int from = f->gathered;

    *ranks = 0;
    if (ddp_broadcast(group, &from, sizeof from, 0, err)
        || ddp_broadcast(group, f->q, f->q_count * sizeof *f->q, 0, err)
        || hand_back_all(f, group, from, err))
        return err->code;
    free(f->all);
    f->all = NULL;
    f->gathered = 0;
    *ranks = from;
    return DDP_OK;
}
