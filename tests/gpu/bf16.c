/* Does a network whose numbers bf16 can hold compute in bf16 on a GPU what it computes in floats on
 * the CPU, to the bit?
 *
 *   gpu_bf16 CFG            one line; exit status 0, 1, or 77 without a GPU
 *   gpu_bf16 CFG fused=N    is it the same where N convolutions make the output of the [shortcut]
 *                           behind them as well (bf16.h: fused), as where they do not?
 *
 * The cfg ends with a [cost]; weights are -1, 0 and 1, few of them not 0, biases and the input
 * small integers, and the truth is the network's own output but for a few places. So all outputs,
 * deltas and gradients are integers, or halves and quarters of them, of few digits: rounding loses
 * nothing, and a wrong place, layout or sum is another number. Compared with ==, of two
 * mini-batches, whose gradients add up: every layer's output and delta, and all gradients. With
 * fused=N both runs are in bf16, and the cfg may be any; what it says when testing, too. The first
 * mini-batch of those leaves out the first of the N, as layer drop does.
 *
 * cuDNN's algorithms add up without last bits of their own: not with EMULATED_NOISE. */
#include "../parity/model.h"
#include "snapshot.h"

#include <cuda_runtime_api.h>
#include <darknet.h>
#include <layers/bf16/bf16.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { SKIPPED = 77, MINI_BATCHES = 2, LARGEST = 256 };

typedef struct run {
    network *net;
    float **outputs;
    snapshot deltas, gradients;
    float *said;        /* when testing */
    int in_bf16, fused; /* how many layers */
    int first_fused;    /* -1: none */
    layer_drops drops;
} run;

/* Numbers that look random and are the same each time. */
static unsigned hash(unsigned x)
{
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    return x ^ x >> 16;
}

/* Return one in how many numbers of an array is not 0: of a convolution's weights about four for
 * each output. */
static unsigned one_in(const network *net, const snapshot_array *a)
{
    const layer *l = &net->layers[a->layer];

    if (strcmp(a->name, "weights") != 0)
        return 1;
    if (l->type != CONVOLUTIONAL)
        return 4;
    return 1 + (unsigned)(l->size * l->size * l->c / l->groups) / 6;
}

static void fill_parameters(network *net)
{
    snapshot s;

    snapshot_open(&s, net, PARAMETERS);
    for (size_t i = 0; i < s.count; i++) {
        snapshot_array *a = &s.arrays[i];

        for (size_t k = 0; k < a->count; k++) {
            unsigned h = hash((unsigned)(k + 1000 * i));

            a->copy[k] = h / 16 % one_in(net, a) ? 0 : (float)(h % 3) - 1;
        }
    }
    snapshot_write(&s, &s);
    snapshot_close(&s);
}

/* [crop] takes pictures, up to 1. */
static void fill_input(network *net, unsigned seed)
{
    unsigned values = net->layers[0].type == CROP ? 2 : 3;

    for (int i = 0; i < net->inputs * net->batch; i++)
        net->input[i] = (float)(hash((unsigned)i + seed) % values);
}

/* Fill in the truth that [cost] reads: with every 5th value off by one. */
static void fill_truth(network *net, const float *said)
{
    for (int i = 0; i < net->truths * net->batch; i++)
        net->truth[i] = said[i] + (float)(i % 5 ? 0 : (int)(hash((unsigned)i) % 3) - 1);
}

static void pass(run *r, unsigned seed, const float *said)
{
    network *net = r->net;

    fill_input(net, seed);
    memset(net->truth, 0, (size_t)(net->truths * net->batch) * sizeof *net->truth);
    if (said)
        fill_truth(net, said);
    *net->seen += (size_t)net->batch;
    net->train = 1;
    forward_network(net);
    if (said)
        backward_network(net);
}

static float *output_of(network *net, int layer)
{
    size_t bytes = (size_t)(net->layers[layer].outputs * net->batch) * sizeof(float);
    float *copy = malloc(bytes);

    if (!copy)
        abort();
    memcpy(copy, pull_layer_output(net, layer), bytes);
    return copy;
}

/* separate: from now on each layer is by itself, as where another layer reads it. */
static void find_fused(run *r, int separate)
{
    r->first_fused = -1;
    for (int i = 0; i < r->net->n; i++) {
        layer l = r->net->layers[i];

        if (!bf16_runs(l) || !l.bf16->fused)
            continue;
        if (r->fused++ == 0)
            r->first_fused = i;
        if (!separate)
            continue;
        l.bf16->fused = 0;
        l.bf16->output = cuda_make_array(0, (size_t)(l.outputs * l.batch));
    }
}

static void begin_drop(run *r)
{
    char *left_out = calloc((size_t)r->net->n, 1);
    float *scale = malloc((size_t)r->net->n * sizeof *scale);

    if (!left_out || !scale)
        abort();
    for (int i = 0; i < r->net->n; i++)
        scale[i] = 1.25F;
    left_out[r->first_fused] = 1;
    r->drops = (layer_drops){left_out, scale};
    r->net->drops = &r->drops;
}

static void end_drop(run *r)
{
    r->net->drops = NULL;
    free((void *)r->drops.left_out);
    free((void *)r->drops.scale);
}

static float *test(network *net)
{
    net->train = 0;
    fill_input(net, 1);
    forward_network(net);
    return output_of(net, net->n - 2);
}

enum how { FLOATS, BF16, SEPARATE };

static void run_open(run *r, const char *cfg, enum how how)
{
    model_options model = {.cfg = cfg,
                           .on_gpu = how != FLOATS}; /* cuDNN's floats may go through a transform */

    memset(r, 0, sizeof *r);
    bf16_wanted = how != FLOATS;
    r->net = model_open(&model);
    find_fused(r, how == SEPARATE);
    fill_parameters(r->net);
    snapshot_open(&r->deltas, r->net, DELTAS);
    snapshot_open(&r->gradients, r->net, GRADIENTS);
    for (int m = 0; m < MINI_BATCHES; m++) {
        unsigned seed = (unsigned)m * 7919;
        int drops = m == 0 && r->first_fused >= 0;
        float *said;

        if (drops)
            begin_drop(r);
        pass(r, seed, NULL);
        said = output_of(r->net, r->net->n - 2);
        pass(r, seed, said);
        free(said);
        if (drops)
            end_drop(r);
    }
    snapshot_read(&r->deltas, -1);
    snapshot_read(&r->gradients, -1);
    r->outputs = calloc((size_t)r->net->n, sizeof *r->outputs);
    for (int i = 0; i < r->net->n; i++) {
        r->outputs[i] = output_of(r->net, i);
        r->in_bf16 += bf16_runs(r->net->layers[i]);
    }
    r->said = test(r->net);
}

static void run_close(run *r)
{
    for (int i = 0; i < r->net->n; i++)
        free(r->outputs[i]);
    free(r->outputs);
    free(r->said);
    snapshot_close(&r->deltas);
    snapshot_close(&r->gradients);
    free_network(r->net);
}

/* ---- comparison ---- */

/* The first of count that is another number, or count. */
static size_t first_other(const float *a, const float *b, size_t count)
{
    size_t i = 0;

    while (i < count && a[i] == b[i])
        i++;
    return i;
}

/* Says where a, in bf16, is not b. Returns 1 if it is not. */
static int is_other(FILE *out, const char *what, int layer, const float *a, const float *b,
                    size_t count)
{
    size_t i = first_other(a, b, count);

    if (i == count)
        return 0;
    (void)fprintf(out, " %s of layer %d: value %zu is %g, not %g;", what, layer, i, (double)a[i],
                  (double)b[i]);
    return 1;
}

static int compare_arrays(FILE *out, const char *what, const snapshot *a, const snapshot *b)
{
    int bad = a->count != b->count;

    for (size_t i = 0; i < b->count && !bad; i++)
        bad += is_other(out, what, b->arrays[i].layer, a->arrays[i].copy, b->arrays[i].copy,
                        b->arrays[i].count);
    return bad;
}

static float largest(const float *x, size_t count)
{
    float most = 0;

    for (size_t i = 0; i < count; i++)
        most = fmaxf(most, fabsf(x[i]));
    return most;
}

/* Numbers that are none would be other than themselves; zeros agree. */
static int is_dead(FILE *out, const run *r)
{
    const snapshot *g = &r->gradients;

    for (size_t i = 0; i < g->count; i++)
        if (largest(g->arrays[i].copy, g->arrays[i].count) == 0)
            return fprintf(out, " gradients of layer %d are 0;", g->arrays[i].layer) > 0;
    return 0;
}

/* Of zeros all would agree, and large numbers lose digits. */
static int tells_nothing(FILE *out, const run *r)
{
    const snapshot *g = &r->gradients;
    size_t zeros = 0;
    int bad = r->in_bf16 != 0;

    for (int i = 0; i < r->net->n - 1; i++) {
        size_t count = (size_t)(r->net->layers[i].outputs * r->net->batch);
        float most = largest(r->outputs[i], count);

        if (most == 0 || most > LARGEST)
            bad += fprintf(out, " outputs of layer %d go to %g;", i, (double)most) > 0;
    }
    for (size_t i = 0; i < g->count; i++) {
        float most = largest(g->arrays[i].copy, g->arrays[i].count);

        zeros += most == 0;
        if (most > MINI_BATCHES * LARGEST)
            bad +=
                fprintf(out, " gradients of layer %d go to %g;", g->arrays[i].layer, (double)most)
                > 0;
    }
    if (zeros > g->count / 3)
        bad += fprintf(out, " %zu of %zu gradients are 0;", zeros, g->count) > 0;
    return bad;
}

static int compare(FILE *out, const run *bf16, const run *floats)
{
    int bad = 0;

    for (int i = 0; i < floats->net->n; i++)
        bad += is_other(out, "output", i, bf16->outputs[i], floats->outputs[i],
                        (size_t)(floats->net->layers[i].outputs * floats->net->batch));
    bad += compare_arrays(out, "delta", &bf16->deltas, &floats->deltas);
    bad += compare_arrays(out, "gradient", &bf16->gradients, &floats->gradients);
    (void)fprintf(out, " %d layers in bf16", bf16->in_bf16);
    return bad + (bf16->in_bf16 == 0);
}

static int compare_with_floats(FILE *out, const char *cfg)
{
    run floats, bf16;
    int bad;

    run_open(&floats, cfg, FLOATS);
    run_open(&bf16, cfg, BF16);
    bad = tells_nothing(out, &floats) + compare(out, &bf16, &floats);
    run_close(&floats);
    run_close(&bf16);
    return bad;
}

static int compare_with_separate(FILE *out, const char *cfg, int wanted)
{
    run fused, separate;
    int bad;

    run_open(&fused, cfg, BF16);
    run_open(&separate, cfg, SEPARATE);
    bad = is_dead(out, &fused) + compare(out, &fused, &separate);
    bad += is_other(out, "output when testing", fused.net->n - 2, fused.said, separate.said,
                    (size_t)(fused.net->layers[fused.net->n - 2].outputs * fused.net->batch));
    (void)fprintf(out, ", %d fused", fused.fused);
    bad += fused.fused != wanted;
    run_close(&fused);
    run_close(&separate);
    return bad;
}

static int has_gpu(void)
{
    int count = 0;

    return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

int main(int argc, char **argv)
{
    FILE *out = fdopen(dup(STDOUT_FILENO), "w");
    int bad, fused = -1;

    if (argc < 2 || argc > 3 || (argc == 3 && sscanf(argv[2], "fused=%d", &fused) != 1) || !out
        || !freopen("/dev/null", "w", stdout)) {
        (void)fprintf(stderr, "usage: gpu_bf16 CFG [fused=N]\n");
        return 2;
    }
    if (!has_gpu()) {
        (void)fprintf(out, "skipped: no GPU\n");
        return SKIPPED;
    }
    cuda_fp32_only = cuda_deterministic = 1;
    bad =
        fused < 0 ? compare_with_floats(out, argv[1]) : compare_with_separate(out, argv[1], fused);
    (void)fprintf(out, bad ? " FAILED\n" : " passed\n");
    return bad != 0;
}
