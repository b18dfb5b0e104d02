#include "core/feedback.h"

#include "base/pages.h"
#include "base/random.h"
#include "device/top_k.h"

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
    float *errors; /* this rank's, in host memory */
    float *q;
    float *drawn;
    ddp_device *device; /* NULL: it is used nowhere */
    struct {
        float *errors, *q, *drawn; /* of the device; on the host the same as above */
    } used;
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
    float *q = f->drawn + f->q_places[i] + column * s.columns;
    ddp_random random;

    ddp_random_init(&random, 0, ddp_random_topic(DDP_PURPOSE_COMPRESS, (int)column), i);
    for (size_t j = 0; j < s.columns; j++)
        q[j] = ddp_random_unit(&random) - 0.5F;
}

static void draw(ddp_feedback *f)
{
    for (size_t i = 0; i < f->count; i++)
        for (size_t k = 0; k < f->shapes[i].rank; k++)
            draw_column(f, i, k);
    memcpy(f->q, f->drawn, f->q_count * sizeof *f->q);
    for (size_t i = 0; i < f->count; i++)
        ddp_matrix_renew(f->q + f->q_places[i], f->drawn + f->q_places[i], f->shapes[i]);
}

static ddp_status allocate(ddp_feedback *f, ddp_error *err)
{
    f->errors = ddp_pages_alloc(f->error_count * sizeof *f->errors);
    f->q = calloc(f->q_count + 1, sizeof *f->q);
    f->drawn = calloc(f->q_count + 1, sizeof *f->drawn);
    if (!f->errors || !f->q || !f->drawn)
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
    draw(f);
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
    ddp_feedback_leave(f);
    free(f->errors);
    free(f->q);
    free(f->drawn);
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

static ddp_memory memory_of(const ddp_feedback *f, size_t i, float *errors, float *q,
                            const float *drawn)
{
    ddp_shape s = f->shapes[i];

    return (ddp_memory){.error = s.rows ? errors + f->places[i] : NULL,
                        .q = s.rank ? q + f->q_places[i] : NULL,
                        .drawn = s.rank ? drawn + f->q_places[i] : NULL};
}

ddp_memory ddp_feedback_memory(const ddp_feedback *f, size_t i)
{
    return memory_of(f, i, f->errors, f->q, f->drawn);
}

/* ---- on a device ---- */

static int is_on_gpu(const ddp_feedback *f)
{
    return f->device && !ddp_device_is_host(f->device);
}

void ddp_feedback_pull(ddp_feedback *f)
{
    if (!is_on_gpu(f))
        return;
    ddp_device_synchronize(f->device); /* Q is renewed beside the framework's work */
    ddp_device_pull(f->device, f->errors, f->used.errors, f->error_count);
    ddp_device_pull(f->device, f->q, f->used.q, f->q_count);
}

static void free_used(ddp_feedback *f)
{
    if (is_on_gpu(f)) {
        ddp_device_free(f->device, f->used.errors);
        ddp_device_free(f->device, f->used.q);
        ddp_device_free(f->device, f->used.drawn);
    }
    f->device = NULL;
}

void ddp_feedback_leave(ddp_feedback *f)
{
    ddp_feedback_pull(f);
    free_used(f);
}

static ddp_status push(ddp_feedback *f, float **to, const float *from, size_t count, ddp_error *err)
{
    if (ddp_device_alloc(f->device, to, count, err))
        return ddp_wrap(err, "what compression remembers of gradients");
    ddp_device_push(f->device, *to, from, count);
    return DDP_OK;
}

ddp_status ddp_feedback_use(ddp_feedback *f, ddp_device *d, ddp_error *err)
{
    f->device = d;
    f->used.errors = f->errors;
    f->used.q = f->q;
    f->used.drawn = f->drawn;
    if (!is_on_gpu(f))
        return DDP_OK;
    f->used.errors = f->used.q = f->used.drawn = NULL;
    if (push(f, &f->used.errors, f->errors, f->error_count, err)
        || push(f, &f->used.q, f->q, f->q_count, err)
        || push(f, &f->used.drawn, f->drawn, f->q_count, err)) {
        free_used(f);
        return err->code;
    }
    return DDP_OK;
}

ddp_memory ddp_feedback_used(const ddp_feedback *f, size_t i)
{
    return memory_of(f, i, f->used.errors, f->used.q, f->used.drawn);
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

    ddp_feedback_pull(f);
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
