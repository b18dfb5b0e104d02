/* reference CFG WEIGHTS FOLDER: train a case of the reference for three steps, as its README says,
 * and leave in FOLDER after1.weights, after3.weights and numbers.json (loss, step1, test). The
 * cfg's batch is four pictures, in two mini-batches; pictures and truth follow from the cfg.
 * In a build for GPUs on GPU 0, and exit status 77 without one. */
#ifdef GPU
#include <cuda_runtime_api.h>
#endif
#include <activations.h>
#include <darknet.h>
#include <network.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IMAGES = 4, REFERENCE_STEPS = 3, FIRST_VALUES = 4, FIELDS = 5 };
enum { INPUT_STREAM = 1, TRUTH_STREAM = 2 };

/* ---- input and truth, by the reference's formula ---- */

/* Value i of a stream: SplitMix64. */
static uint64_t mix(uint64_t i, uint64_t stream)
{
    uint64_t z = stream + (i + 1) * 0x9E3779B97F4A7C15U;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
}

static float *make_pictures(const network *net)
{
    size_t n = (size_t)net->inputs * IMAGES;
    float *x = calloc(n, sizeof *x);

    for (size_t i = 0; x && i < n; i++)
        x[i] = (float)(mix(i, INPUT_STREAM) >> 40) / 16777216;
    return x;
}

/* In units of 1/1024 of a picture. */
struct place {
    uint64_t centre[2], size[2], class;
};

static uint64_t at_least(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t at_most(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A box about the size of an anchor; every second one in the middle of a cell. */
static struct place near_anchor(const layer *head, const int sides[2], uint64_t b, uint64_t k,
                                const uint64_t r[FIELDS])
{
    uint64_t num = (uint64_t)head->total, a = (k + b) % num, snap = (k + b) % 2;
    uint64_t stride = 32U >> (num / 3 - 1 - a / 3);
    struct place p = {.class = r[4] % (uint64_t)head->classes};

    for (int i = 0; i < 2; i++) {
        uint64_t side = (uint64_t)sides[i], cells = side / stride;
        uint64_t tenths = (uint64_t)lrint(10 * (double)head->biases[2 * a + (uint64_t)i]);
        uint64_t spread = snap ? 972 + r[i] % 105 : 800 + r[i] % 449;
        uint64_t s = at_most(900, at_least(8, tenths * spread / (10 * side)));

        p.size[i] = s;
        p.centre[i] =
            snap ? (2 * (r[2 + i] % cells) + 1) * 512 / cells : (s + 1) / 2 + r[2 + i] % (1024 - s);
    }
    return p;
}

/* The largest anchor, between cells. */
static struct place between_cells(const layer *head, const int sides[2], const uint64_t r[FIELDS])
{
    struct place p = {.class = r[4] % (uint64_t)head->classes};

    for (int i = 0; i < 2; i++) {
        double anchor = (double)head->biases[2 * head->total - 2 + i];
        uint64_t side = (uint64_t)sides[i];

        p.size[i] = at_most(900, (uint64_t)lrint(10 * anchor) * 1024 / (10 * side));
        p.centre[i] = 1024U * (i ? 16 : 32) / side + r[2 + i] % 16;
    }
    return p;
}

/* Place the boxes of one picture. Returns how many. */
static uint64_t place_boxes(const layer *head, const int sides[2], uint64_t b, struct place *out)
{
    uint64_t num = (uint64_t)head->total, classes = (uint64_t)head->classes;

    for (uint64_t k = 0; k < num + 4; k++) {
        uint64_t r[FIELDS];

        for (uint64_t f = 0; f < FIELDS; f++)
            r[f] = mix((b * 64 + k) * 8 + f, TRUTH_STREAM);
        if (k < num) {
            out[k] = near_anchor(head, sides, b, k, r);
        } else if (k < num + 3) {
            out[k] = out[((k - num) * 2 + b) % num];
            for (int i = 0; i < 2; i++)
                out[k].size[i] = out[k].size[i] * (960 + r[i] % 129) / 1024;
            out[k].class = (out[k].class + (k - num) % 2) % classes;
        } else {
            out[k] = between_cells(head, sides, r);
        }
    }
    return num + 4;
}

static void write_boxes(const network *net, const layer *head, uint64_t b, float *truth)
{
    int sides[2] = {net->w, net->h};
    struct place boxes[64];
    uint64_t n = place_boxes(head, sides, b, boxes);

    for (uint64_t k = 0; k < n; k++, truth += FIELDS) {
        for (int i = 0; i < 2; i++) {
            truth[i] = (float)boxes[k].centre[i] / 1024;
            truth[2 + i] = (float)boxes[k].size[i] / 1024;
        }
        truth[4] = (float)boxes[k].class;
    }
}

static float *make_truth(const network *net)
{
    const layer *head = &net->layers[net->n - 1];
    float *truth = calloc((size_t)net->truths * IMAGES, sizeof *truth);

    for (uint64_t b = 0; truth && b < IMAGES; b++) {
        float *row = truth + b * (uint64_t)net->truths;

        if (head->type == YOLO)
            write_boxes(net, head, b, row);
        else
            row[mix(b, TRUTH_STREAM) % (uint64_t)net->truths] = 1;
    }
    return truth;
}

/* ---- numbers ---- */

static void print_row(FILE *f, const float *x, size_t n)
{
    double squares = 0, sum = 0;

    for (size_t i = 0; i < n; i++) {
        squares += (double)x[i] * (double)x[i];
        sum += (double)x[i];
    }
    (void)fprintf(f, "[%.9g, %.9g", sqrt(squares), sum);
    for (size_t i = 0; i < FIRST_VALUES && i < n; i++)
        (void)fprintf(f, ", %.9g", (double)x[i]);
    (void)fprintf(f, "]");
}

/* Pull what a GPU has computed. A shortcut's delta is taken through the activation in place on the
 * host alone: do that here. */
static void pull(network *net)
{
#ifdef GPU
    for (int i = 0; i < net->n; i++) {
        layer *l = &net->layers[i];
        size_t n = (size_t)l->outputs * (size_t)l->batch;

        if (l->output_gpu)
            (void)pull_layer_output(net, i);
        if (l->delta_gpu) {
            if (!l->delta)
                l->delta = calloc(n, sizeof(float));
            cuda_pull_array(l->delta_gpu, l->delta, n);
        }
        if (l->type == SHORTCUT)
            gradient_array(l->output, (int)n, l->activation, l->delta);
    }
#else
    (void)net;
#endif
}

static void print_rows(FILE *f, const network *net, const char *name, int deltas)
{
    (void)fprintf(f, "\"%s\": [", name);
    for (int i = 0; i < net->n; i++) {
        const layer *l = &net->layers[i];

        (void)fprintf(f, i ? ", " : "");
        print_row(f, deltas ? l->delta : l->output, (size_t)l->outputs * (size_t)l->batch);
    }
    (void)fprintf(f, "]");
}

struct run {
    network *net;
    float *pictures, *truth;
    const char *folder;
    FILE *numbers;
};

static void take(struct run *r, int first)
{
    network *net = r->net;

    memcpy(net->input, r->pictures + (size_t)first * (size_t)net->inputs,
           (size_t)net->batch * (size_t)net->inputs * sizeof(float));
    memcpy(net->truth, r->truth + (size_t)first * (size_t)net->truths,
           (size_t)net->batch * (size_t)net->truths * sizeof(float));
}

/* Returns its loss. */
static double train_step(struct run *r, int step)
{
    double loss = 0;

    for (int first = 0; first < IMAGES; first += r->net->batch) {
        take(r, first);
        loss += (double)train_network_datum(r->net);
        if (step > 0)
            continue;
        pull(r->net);
        (void)fprintf(r->numbers, first ? ", {" : "{");
        print_rows(r->numbers, r->net, "out", 0);
        (void)fprintf(r->numbers, ", ");
        print_rows(r->numbers, r->net, "delta", 1);
        (void)fprintf(r->numbers, "}");
    }
    return loss / IMAGES;
}

static void save_weights_after(const struct run *r, int step)
{
    char path[4096];

    (void)snprintf(path, sizeof path, "%s/after%d.weights", r->folder, step + 1);
    save_weights(r->net, path);
}

static void run(struct run *r)
{
    double loss[REFERENCE_STEPS];

    (void)fprintf(r->numbers, "{\"step1\": [");
    for (int step = 0; step < REFERENCE_STEPS; step++) {
        loss[step] = train_step(r, step);
        if (step == 0)
            (void)fprintf(r->numbers, "]");
        if (step != 1)
            save_weights_after(r, step);
    }
    (void)fprintf(r->numbers, ", \"loss\": [%.9g, %.9g, %.9g], \"test\": {", loss[0], loss[1],
                  loss[2]);
    take(r, 0);
    (void)network_predict(r->net, r->net->input);
    pull(r->net);
    print_rows(r->numbers, r->net, "out", 0);
    (void)fprintf(r->numbers, "}}\n");
}

/* Returns 0 in a build for GPUs without one. */
static int choose_device(void)
{
#ifdef GPU
    int count = 0;

    cuda_fp32_only = 1;
    return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
#else
    return 1;
#endif
}

int main(int argc, char **argv)
{
    char path[4096];
    struct run r = {0};

    if (argc != 4) {
        (void)fprintf(stderr, "usage: reference CFG WEIGHTS FOLDER\n");
        return 2;
    }
    if (!choose_device())
        return 77;
    r.folder = argv[3];
    (void)snprintf(path, sizeof path, "%s/numbers.json", r.folder);
    r.numbers = fopen(path, "w");
    r.net = load_network(argv[1], argv[2], 0);
    r.pictures = make_pictures(r.net);
    r.truth = make_truth(r.net);
    if (!r.numbers || !r.pictures || !r.truth || r.net->batch * r.net->subdivisions != IMAGES) {
        (void)fprintf(stderr, "reference: cannot write %s, no memory, or not %d pictures a batch\n",
                      path, IMAGES);
        return 1;
    }
    run(&r);
    return fclose(r.numbers) != 0;
}
