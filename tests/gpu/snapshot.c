#include "snapshot.h"

#include <layers/bf16/bf16.h>
#include <math.h>
#include <network.h>
#include <string.h>

static const double floor_of_layer = 0.1;

enum { MOST_PARTS = 8, MOST_ARRAYS = 5 };

static void add_array(snapshot *s, snapshot_array array)
{
    int is_there = s->on_gpu ? array.device || array.in_bf16 : array.host != NULL;

    if (!is_there || array.count == 0)
        return;
    array.copy = calloc(array.count, sizeof *array.copy);
    if (!array.copy)
        abort();
    s->arrays[s->count++] = array;
}

static int parts_of(layer *l, layer **parts)
{
    layer *const lstm[MOST_PARTS] = {l->wf, l->wi, l->wg, l->wo, l->uf, l->ui, l->ug, l->uo};

    switch (l->type) {
    case CONVOLUTIONAL:
    case DECONVOLUTIONAL:
    case CONNECTED:
    case LOCAL:
    case BATCHNORM:
    case SHORTCUT:
    case IMPLICIT:
        parts[0] = l;
        return l->share_layer == NULL; /* else they are another's */
    case RNN:
    case CRNN:
        parts[0] = l->input_layer;
        parts[1] = l->self_layer;
        parts[2] = l->output_layer;
        return 3;
    case LSTM:
        memcpy(parts, lstm, sizeof lstm);
        return MOST_PARTS;
    default:
        return 0;
    }
}

/* How many weights, and how many of everything else. */
static void sizes_of(const layer *l, size_t *weights, size_t *others)
{
    size_t kernel = (size_t)(l->size * l->size * l->c * l->n);

    *others = (size_t)l->n;
    switch (l->type) {
    case CONVOLUTIONAL:
        *weights = (size_t)l->nweights;
        break;
    case SHORTCUT:
    case IMPLICIT:
        *weights = (size_t)l->nweights;
        *others = 0;
        break;
    case DECONVOLUTIONAL:
        *weights = kernel;
        break;
    case LOCAL:
        *weights = kernel * (size_t)(l->out_w * l->out_h);
        *others = (size_t)l->outputs;
        break;
    case CONNECTED:
        *weights = (size_t)l->inputs * (size_t)l->outputs;
        *others = (size_t)l->outputs;
        break;
    default: /* BATCHNORM */
        *weights = 0;
        *others = (size_t)l->c;
        break;
    }
}

static void add_part(snapshot *s, snapshot_array array, const layer *l, enum snapshot_kind kind)
{
    int normalized = l->batch_normalize || l->type == BATCHNORM;
    int first = kind == STATISTICS ? 3 : 0, last = kind == STATISTICS ? 4 : 2;
    size_t weights, others;
    struct {
        const char *name;
        size_t count;
        float *host[2], *device[2]; /* values, gradients */
    } rows[MOST_ARRAYS] = {
        {"weights", 0, {l->weights, l->weight_updates}, {l->weights_gpu, l->weight_updates_gpu}},
        {"biases", 0, {l->biases, l->bias_updates}, {l->biases_gpu, l->bias_updates_gpu}},
        {"scales", 0, {l->scales, l->scale_updates}, {l->scales_gpu, l->scale_updates_gpu}},
        {"rolling mean", 0, {l->rolling_mean}, {l->rolling_mean_gpu}},
        {"rolling variance", 0, {l->rolling_variance}, {l->rolling_variance_gpu}},
    };

    sizes_of(l, &weights, &others);
    for (int i = first; i <= last && (i < 2 || normalized); i++) {
        array.name = rows[i].name;
        array.count = i ? others : weights;
        array.host = rows[i].host[kind == GRADIENTS];
        array.device = rows[i].device[kind == GRADIENTS];
        add_array(s, array);
    }
}

void snapshot_open(snapshot *s, network *net, enum snapshot_kind kind)
{
    *s = (snapshot){.on_gpu = net->gpu_index >= 0};
    s->arrays = calloc((size_t)net->n * MOST_PARTS * MOST_ARRAYS, sizeof *s->arrays);
    if (!s->arrays)
        abort();
    for (int i = 0; i < net->n; i++) {
        layer *parts[MOST_PARTS], *l = &net->layers[i];
        int count = parts_of(l, parts), recurrent = count > 1 || l->type == GRU, left;
        snapshot_array array = {.layer = i, .kind = get_layer_string(l->type)};

        if (kind == DELTAS) {
            array.name = "delta";
            /* The GPU leaves a shortcut's, and bf16 a product's, as it was before its activation.
             */
            left = recurrent
                   || (l->activation != LINEAR
                       && (l->type == SHORTCUT || l->type == SAM || l->type == SCALE_CHANNELS));
            array.count = left ? 0 : (size_t)l->outputs * (size_t)l->batch;
            array.host = l->delta;
            array.device = l->delta_gpu;
            array.in_bf16 = s->on_gpu && bf16_runs(*l) ? l : NULL;
            add_array(s, array);
            continue;
        }
        for (array.part = 0; array.part < count; array.part++)
            add_part(s, array, parts[array.part], kind);
    }
}

void snapshot_close(snapshot *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->arrays[i].copy);
    free(s->arrays);
    *s = (snapshot){0};
}

void snapshot_read(snapshot *s, int layer)
{
    for (size_t i = 0; i < s->count; i++) {
        snapshot_array *a = &s->arrays[i];

        if (layer >= 0 && a->layer != layer)
            continue;
        if (a->in_bf16)
            bf16_pull_delta(*a->in_bf16, a->copy);
        else if (s->on_gpu)
            cuda_pull_array(a->device, a->copy, a->count);
        else
            memcpy(a->copy, a->host, a->count * sizeof *a->copy);
    }
}

void snapshot_write(const snapshot *s, const snapshot *from)
{
    for (size_t i = 0; i < s->count; i++) {
        const snapshot_array *a = &s->arrays[i];

        memcpy(a->host, from->arrays[i].copy, a->count * sizeof *a->host);
        if (s->on_gpu)
            cuda_push_array(a->device, a->host, a->count);
    }
}

struct norms {
    double difference, b; /* squared */
};

static double value_of(const snapshot *s, const snapshot *less, size_t array, size_t i)
{
    double value = (double)s->arrays[array].copy[i];

    return less ? value - (double)less->arrays[array].copy[i] : value;
}

static struct norms norms_of(const snapshot *a, const snapshot *b, const snapshot *a0,
                             const snapshot *b0, size_t array)
{
    struct norms n = {0};

    for (size_t i = 0; i < b->arrays[array].count; i++) {
        double x = value_of(a, a0, array, i), y = value_of(b, b0, array, i);

        n.difference += (x - y) * (x - y);
        n.b += y * y;
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

distance snapshot_distance(const snapshot *a, const snapshot *b, const snapshot *a0,
                           const snapshot *b0)
{
    distance d = {0};

    for (size_t first = 0, end = 0; first < b->count; first = end) {
        struct norms norms[MOST_PARTS * MOST_ARRAYS];
        double largest = 0;

        for (; end < b->count && b->arrays[end].layer == b->arrays[first].layer; end++) {
            norms[end - first] = norms_of(a, b, a0, b0, end);
            largest = fmax(largest, norms[end - first].b);
        }
        for (size_t i = first; i < end; i++) {
            double floor = floor_of_layer * floor_of_layer * largest;
            double r = ratio(norms[i - first].difference, fmax(norms[i - first].b, floor));

            if (r > d.worst)
                d = (distance){r, i};
        }
    }
    return d;
}

int snapshot_same(const snapshot *a, const snapshot *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (memcmp(a->arrays[i].copy, b->arrays[i].copy, b->arrays[i].count * sizeof(float)) != 0)
            return 0;
    return 1;
}
