/* Do the reductions of a network in bf16 fill a GPU?
 *
 *   gpu_blocks CFG PIXELS BATCH      one line for each that does not; exit status 0 or 1
 *
 * A training step is launched on the emulated device, which computes nothing of it
 * (emulated_launches.h), and the blocks of its kernels are counted. Of each kernel that adds up
 * over a convolution's output: at least 264, two for each of an H200's multiprocessors, if twice as
 * many do not leave a thread less than two packs of 8 values. BatchNorm adds up twice, and a bias
 * once. */
#include "../parity/model.h"

#include <darknet.h>
#include <emulated_launches.h>
#include <layers/bf16/bf16.h>
#include <network.h>
#include <string.h>

enum { WANTED = 264, THREADS = 256, TWO_PACKS = 16 };

static const char *const reductions[] = {"moments_bf16", "delta_sums_bf16",
                                         "add_bias_backward_bf16"};

static layer adding;       /* whose kernels are launched */
static int is_at, reached; /* the place of it, and how many reductions it has launched */
static int bad;

static void launched(const char *kernel, unsigned blocks)
{
    int values_a_thread = adding.out_c % 8 ? TWO_PACKS / 8 : TWO_PACKS;
    double values = (double)adding.outputs * adding.batch;
    size_t i = 0, count = sizeof reductions / sizeof reductions[0];

    while (i < count && !strstr(kernel, reductions[i]))
        i++;
    if (i == count)
        return;
    reached++;
    if (blocks >= WANTED || 2.0 * blocks * THREADS * values_a_thread > values)
        return;
    bad++;
    printf("BAD layer %d, %d x %d x %d x %d: %s has %u blocks\n", is_at, adding.batch, adding.out_h,
           adding.out_w, adding.out_c, reductions[i], blocks);
}

/* Both ways, by itself: of what it computes nothing depends on others. */
static void run_layer(network net, int i)
{
    int wanted;

    adding = net.layers[i];
    is_at = net.index = i;
    reached = 0;
    adding.forward_gpu(adding, net);
    adding.backward_gpu(adding, net);
    wanted = adding.batch_normalize ? 2 : 1;
    if (reached == wanted)
        return;
    bad++;
    printf("BAD layer %d launches %d reductions, not %d\n", i, reached, wanted);
}

int main(int argc, char **argv)
{
    model_options model = {.subdivisions = 1, .on_gpu = 1};
    network *net;
    int layers = 0;

    if (argc != 4) {
        (void)fprintf(stderr, "usage: gpu_blocks CFG PIXELS BATCH\n");
        return 2;
    }
    model.cfg = argv[1];
    model.width = model.height = (int)strtol(argv[2], NULL, 10);
    model.batch = (int)strtol(argv[3], NULL, 10);
    emulated_only_launch(launched);
    bf16_wanted = cuda_deterministic = 1;
    net = model_open(&model);
    net->train = 1;
    for (int i = 0; i < net->n; i++)
        if (net->layers[i].type == CONVOLUTIONAL && bf16_runs(net->layers[i])) {
            layers++;
            run_layer(*net, i);
        }
    free_network(net);
    printf("%d convolutions in bf16, %d times too few blocks\n", layers, bad);
    return bad > 0 || layers == 0;
}
