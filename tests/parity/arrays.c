#include "arrays.h"

#include <math.h>
#include <stdlib.h>
#include <xxhash.h>

static float *array_of(const ddp_param_table *table, size_t i, enum array_kind kind)
{
    const ddp_param *param = &table->params[i];

    return kind == VALUES ? param->value : *param->gradient_slot;
}

size_t array_offset(const ddp_param_table *table, size_t i)
{
    size_t offset = 0;

    for (size_t p = 0; p < i; p++)
        offset += table->params[p].count;
    return offset;
}

void array_read(const ddp_param_table *table, size_t i, enum array_kind kind, float *copy)
{
    ddp_device_pull(table->device, copy + array_offset(table, i), array_of(table, i, kind),
                    table->params[i].count);
}

void arrays_read(const ddp_param_table *table, enum array_kind kind, float *copy)
{
    for (size_t i = 0; i < table->param_count; i++)
        array_read(table, i, kind, copy);
}

float *arrays_copy(const ddp_param_table *table, enum array_kind kind)
{
    float *copy = calloc(array_offset(table, table->param_count) + 1, sizeof *copy);

    if (!copy)
        abort();
    arrays_read(table, kind, copy);
    return copy;
}

void arrays_restore(const ddp_param_table *table, enum array_kind kind, const float *copy)
{
    for (size_t i = 0; i < table->param_count; i++) {
        ddp_device_push(table->device, array_of(table, i, kind), copy, table->params[i].count);
        copy += table->params[i].count;
    }
}

float *statistics_copy(const ddp_param_table *table)
{
    size_t count = 0;
    float *copy;

    for (size_t i = 0; i < table->buffer_count; i++)
        count += table->buffers[i].count;
    copy = calloc(count + 1, sizeof *copy);
    if (!copy)
        abort();
    for (size_t i = 0, at = 0; i < table->buffer_count; at += table->buffers[i++].count)
        ddp_device_pull(table->device, copy + at, *table->buffers[i].slot, table->buffers[i].count);
    return copy;
}

void statistics_restore(const ddp_param_table *table, const float *copy)
{
    for (size_t i = 0; i < table->buffer_count; copy += table->buffers[i++].count)
        ddp_device_push(table->device, *table->buffers[i].slot, copy, table->buffers[i].count);
}

double statistics_distance(const ddp_param_table *table, const float *a, const float *b,
                           size_t *buffer)
{
    double worst = 0;

    *buffer = 0;
    for (size_t i = 0; i < table->buffer_count; i++) {
        double off = 0, size = 0;

        for (size_t k = 0; k < table->buffers[i].count; k++, a++, b++) {
            off += ((double)*a - (double)*b) * ((double)*a - (double)*b);
            size += (double)*b * (double)*b;
        }
        off = size > 0 ? sqrt(off / size) : sqrt(off);
        if (off <= worst)
            continue;
        worst = off;
        *buffer = i;
    }
    return worst;
}

static uint64_t hash_array(const ddp_param_table *table, const float *x, size_t count,
                           uint64_t hash)
{
    float *copy;

    if (ddp_device_is_host(table->device))
        return XXH64(x, count * sizeof *x, hash);
    copy = malloc(count * sizeof *copy);
    if (!copy)
        abort();
    ddp_device_pull(table->device, copy, x, count);
    hash = XXH64(copy, count * sizeof *copy, hash);
    free(copy);
    return hash;
}

uint64_t arrays_hash(const ddp_param_table *table, int first, int last)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < table->param_count; i++) {
        const ddp_param *param = &table->params[i];

        if (param->layer < first || param->layer > last)
            continue;
        hash = hash_array(table, param->value, param->count, hash);
        for (int k = 0; k < DDP_OPTIMIZER_BUFFERS && param->optimizer.buffer[k]; k++)
            hash = hash_array(table, param->optimizer.buffer[k], param->count, hash);
    }
    return hash;
}

struct norms {
    double difference, b; /* squared */
};

static struct norms norms_of(const float *a, const float *b, size_t count)
{
    struct norms n = {0};

    for (size_t i = 0; i < count; i++) {
        double d = (double)a[i] - (double)b[i];

        n.difference += d * d;
        n.b += (double)b[i] * (double)b[i];
    }
    return n;
}

/* 0 / 0 is no distance: both are zero. */
static double ratio(double difference, double b)
{
    if (difference == 0)
        return 0;
    return isfinite(difference) && isfinite(b) ? sqrt(difference / b) : (double)INFINITY;
}

distance arrays_distance(const ddp_param_table *table, const float *a, const float *b, double floor)
{
    distance d = {0};

    struct norms *norms = calloc(table->param_count + 1, sizeof *norms);

    if (!norms)
        abort();
    for (size_t i = 0, end = 0, offset = 0; i < table->param_count; i = end) {
        double largest = 0, r;

        for (end = i;
             end < table->param_count && table->params[end].layer == table->params[i].layer;
             end++) {
            norms[end] = norms_of(a + offset, b + offset, table->params[end].count);
            largest = fmax(largest, norms[end].b);
            offset += table->params[end].count;
        }
        for (size_t p = i; p < end; p++) {
            r = ratio(norms[p].difference, fmax(norms[p].b, floor * floor * largest));
            if (r > d.worst)
                d = (distance){r, p};
        }
    }
    free(norms);
    return d;
}

void arrays_subtract(const ddp_param_table *table, float *a, const float *b)
{
    size_t count = array_offset(table, table->param_count);

    for (size_t i = 0; i < count; i++)
        a[i] -= b[i];
}

double arrays_change(const ddp_param_table *table, const float *a, const float *b)
{
    struct norms n = norms_of(a, b, array_offset(table, table->param_count));

    return ratio(n.difference, n.b);
}
