#include "layers/ema.h"
#include "blas.h"
#include "cuda.h"
#include "layers/catch_fatal.h"
#include "utils.h"

#include <stdio.h>
#include <stdlib.h>

#define LAST_BATCHES 1000 // the last ones, which train on from the average

static float *make_array(int n)
{
    return calloc((size_t)n, sizeof(float));
}

void make_averages(layer *l)
{
    if (l->type != CONVOLUTIONAL)
        return;
    l->weight_average = make_array(l->nweights);
    l->bias_average = make_array(l->n);
    if (l->scales)
        l->scale_average = make_array(l->n);
#ifdef GPU
    if (gpu_index >= 0) {
        l->weight_average_gpu = cuda_make_array(l->weight_average, (size_t)l->nweights);
        l->bias_average_gpu = cuda_make_array(l->bias_average, (size_t)l->n);
        if (l->scales)
            l->scale_average_gpu = cuda_make_array(l->scale_average, (size_t)l->n);
    }
#endif
}

/* average = keep*average + (1 - keep)*now; keep 0: a copy. back: the other way, now = average. */
static void average_array(network *net, float *average, float *now, int n, float keep, int back)
{
    float *from = back ? average : now, *to = back ? now : average;
    (void)net;
#ifdef GPU
    if (net->gpu_index >= 0) {
        if (keep == 0)
            copy_gpu(n, from, 1, to, 1);
        else {
            scal_gpu(n, keep, to, 1);
            axpy_gpu(n, 1 - keep, from, 1, to, 1);
        }
        return;
    }
#endif
    if (keep == 0)
        copy_cpu(n, from, 1, to, 1);
    else {
        scal_cpu(n, keep, to, 1);
        axpy_cpu(n, 1 - keep, from, 1, to, 1);
    }
}

static void average_layer(network *net, layer l, float keep, int back)
{
#ifdef GPU
    if (net->gpu_index >= 0) {
        average_array(net, l.weight_average_gpu, l.weights_gpu, l.nweights, keep, back);
        average_array(net, l.bias_average_gpu, l.biases_gpu, l.n, keep, back);
        if (l.scale_average)
            average_array(net, l.scale_average_gpu, l.scales_gpu, l.n, keep, back);
        return;
    }
#endif
    average_array(net, l.weight_average, l.weights, l.nweights, keep, back);
    average_array(net, l.bias_average, l.biases, l.n, keep, back);
    if (l.scale_average)
        average_array(net, l.scale_average, l.scales, l.n, keep, back);
}

static void average_all(network *net, float keep, int back)
{
    int i;
    if (net->hooks)
        net->hooks->settle(net->hooks->ctx, net);
    for (i = 0; i < net->n; ++i) {
        if (net->layers[i].weight_average)
            average_layer(net, net->layers[i], keep, back);
    }
}

/* Every so many batches, as the forks do: 1/1000 of what is left of half the run for an alpha of
 * .999. */
static size_t period_of(network *net)
{
    double period =
        (net->max_batches - net->max_batches / 2 - LAST_BATCHES) * (1. - net->ema_alpha);
    return period > 1 ? (size_t)period : 1;
}

static int reached(size_t batch, size_t before, size_t point)
{
    return before < point && point <= batch;
}

static int has_trained;

void average_weights(network *net)
{
    has_trained = 1;
    size_t now = train_batches(net), begin = (size_t)(net->max_batches / 2);
    if (!net->ema_alpha || now * (size_t)net->batch * (size_t)net->subdivisions != *net->seen
        || now < begin)
        return;
    size_t before = now - (size_t)net->accumulate, period = period_of(net);
    size_t end = net->max_batches > LAST_BATCHES ? (size_t)(net->max_batches - LAST_BATCHES) : 0;
    if (reached(now, before, begin))
        average_all(net, 0, 0);
    else if (end > begin && reached(now, before, end))
        average_all(net, 0, 1);
    else if ((now < end || end <= begin) && now / period != before / period)
        average_all(net, net->ema_alpha, 0);
}

static void swap(float **a, float **b)
{
    float *c = *a;
    *a = *b;
    *b = c;
}

static void swap_averages(network *net)
{
    int i;
    for (i = 0; i < net->n; ++i) {
        layer *l = net->layers + i;
        if (!l->weight_average)
            continue;
        swap(&l->weights, &l->weight_average);
        swap(&l->biases, &l->bias_average);
        swap(&l->scales, &l->scale_average);
#ifdef GPU
        swap(&l->weights_gpu, &l->weight_average_gpu);
        swap(&l->biases_gpu, &l->bias_average_gpu);
        swap(&l->scales_gpu, &l->scale_average_gpu);
#endif
    }
}

void (*averages_unsaved)(const char *why) = 0;

struct saving {
    network *net;
    char *path;
};

static void write_averages(void *ctx)
{
    struct saving *s = ctx;
    write_weights_file(s->net, s->path, s->net->n);
}

void save_averages(network *net, const char *directory, const char *base)
{
    char path[4096], why[1024];
    struct saving saving = {net, path};
    if (!net->ema_alpha || !has_trained || train_batches(net) < (size_t)(net->max_batches / 2))
        return;
    if (net->hooks)
        net->hooks->settle(net->hooks->ctx, net);
    if (!train_is_first())
        return;
    if (snprintf(path, sizeof(path), "%s/%s_ema.weights", directory, base) >= (int)sizeof(path))
        fatal("Path too long: %s", directory);
    if (save_handler)
        save_handler(path);
    swap_averages(net);
    if (!averages_unsaved)
        write_averages(&saving);
    else if (!catch_fatal(write_averages, &saving, why, sizeof(why)))
        averages_unsaved(why);
    swap_averages(net);
}
