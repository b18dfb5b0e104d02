/* weights_dump CFG FILL [read FILE | write FILE [LAYERS]]
 * Parse CFG, fill every parameter array and seen from the number FILL, read or write the weights
 * FILE (write: of the first LAYERS layers) and print "ARRAY LENGTH HASH" of each array and "seen N"
 * to standard output. What a file does not give keeps what FILL gave it, so that two dumps can be
 * compared line by line. Reading goes only through what Darknet has with patches/ and without. */
#include <darknet.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

enum { PARTS = 17 };

typedef void visit(const char *name, float *array, size_t count, uint64_t fill);

/* Values of both signs, but none that a variance could not have. */
static void fill_array(const char *name, float *array, size_t count, uint64_t fill)
{
    uint64_t x = XXH64(name, strlen(name), fill);
    int positive = strstr(name, "variance") != NULL;

    for (size_t i = 0; i < count; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        array[i] = (float)(x >> 40) / (1 << 24) - (positive ? 0 : 0.5F);
    }
}

static void print_array(const char *name, float *array, size_t count, uint64_t fill)
{
    (void)fill;
    printf("%s %zu %016" PRIx64 "\n", name, count,
           (uint64_t)XXH64(array, count * sizeof *array, 0));
}

static void visit_array(visit *f, uint64_t fill, const char *owner, const char *part, float *array,
                        int count)
{
    char name[64];

    (void)snprintf(name, sizeof name, "%s.%s", owner, part);
    if (array)
        f(name, array, (size_t)count, fill);
}

static int has_weights(const struct layer *l)
{
    return l->type == CONVOLUTIONAL || l->type == DECONVOLUTIONAL || l->type == CONNECTED
           || l->type == LOCAL || l->type == BATCHNORM;
}

static void visit_own(const struct layer *l, const char *name, visit *f, uint64_t fill)
{
    int outputs = l->n, weights = l->nweights;

    if (!has_weights(l))
        return;
    if (l->type == CONNECTED || l->type == LOCAL)
        outputs = l->outputs;
    if (l->type == CONNECTED)
        weights = l->inputs * l->outputs;
    if (l->type == LOCAL)
        weights = l->size * l->size * l->c * l->n * l->out_w * l->out_h;
    if (l->type == BATCHNORM)
        outputs = l->c;
    visit_array(f, fill, name, "biases", l->biases, outputs);
    if (l->type != BATCHNORM)
        visit_array(f, fill, name, "weights", l->weights, weights);
    if (l->type == BATCHNORM || l->batch_normalize) {
        visit_array(f, fill, name, "scales", l->scales, outputs);
        visit_array(f, fill, name, "rolling_mean", l->rolling_mean, outputs);
        visit_array(f, fill, name, "rolling_variance", l->rolling_variance, outputs);
    }
}

static void visit_layer(const struct layer *l, const char *name, visit *f, uint64_t fill)
{
    /* Layers of a recurrent layer; null in all others. */
    const struct layer *const parts[PARTS] = {
        l->input_layer, l->self_layer, l->output_layer, l->wz, l->wr, l->wh, l->uz, l->ur, l->uh,
        l->wi,          l->wf,         l->wo,           l->wg, l->ui, l->uf, l->uo, l->ug};
    char part[32];

    visit_own(l, name, f, fill);
    for (int i = 0; i < PARTS; i++) {
        (void)snprintf(part, sizeof part, "%s.%d", name, i);
        if (parts[i])
            visit_own(parts[i], part, f, fill);
    }
}

static void visit_network(const network *net, visit *f, uint64_t fill)
{
    char name[16];

    for (int i = 0; i < net->n; i++) {
        (void)snprintf(name, sizeof name, "%d", i);
        visit_layer(&net->layers[i], name, f, fill);
    }
}

int main(int argc, char **argv)
{
    int reads = argc == 5 && strcmp(argv[3], "read") == 0;
    int writes = (argc == 5 || argc == 6) && strcmp(argv[3], "write") == 0;

    if (argc != 3 && !reads && !writes) {
        (void)fputs("usage: weights_dump CFG FILL [read FILE | write FILE [LAYERS]]\n", stderr);
        return 2;
    }
    gpu_index = -1;
    network *net = parse_network_cfg(argv[1]);
    uint64_t fill = strtoull(argv[2], NULL, 10);

    visit_network(net, fill_array, fill);
    *net->seen = (size_t)fill * 5000000001; /* more than 32 bits */
    if (reads)
        load_weights(net, argv[4]);
    if (writes)
        save_weights_upto(net, argv[4], argc == 6 ? (int)strtol(argv[5], NULL, 10) : net->n);
    visit_network(net, print_array, 0);
    printf("seen %zu\n", *net->seen);
    /* Darknet frees little of a network: no leak checker needs to see it. */
    _exit(fflush(stdout) == 0 ? 0 : 1);
}
