/* Do the reductions of a network in bf16 fill a GPU?
 *
 *   gpu_blocks CFG PIXELS BATCH      one line for each layer that does not; exit status 0 or 1
 *
 * Of each convolution: at least 264 blocks, two for each of an H200's multiprocessors, if twice as
 * many do not leave a thread less than two packs of 8 values. The network is made without a GPU, of
 * one image; the blocks are those that a launch for BATCH images has. */
#include "../parity/model.h"

#include <darknet.h>
#include <layers/bf16/bf16.h>

enum { WANTED = 264, THREADS = 256, TWO_PACKS = 16 };

/* Returns 1 if they are too few. */
static int are_few(const network *net, int i, int batch)
{
    layer l = net->layers[i];
    int values_a_thread = l.out_c % 8 ? TWO_PACKS / 8 : TWO_PACKS;
    double values = (double)l.outputs * batch;
    int blocks;

    l.batch = batch;
    blocks = bf16_reduction_blocks(l);
    if (blocks >= WANTED || 2.0 * blocks * THREADS * values_a_thread > values)
        return 0;
    printf("BAD layer %d, %d x %d x %d x %d: %d blocks\n", i, batch, l.out_h, l.out_w, l.out_c,
           blocks);
    return 1;
}

int main(int argc, char **argv)
{
    model_options model = {.batch = 1, .subdivisions = 1};
    network *net;
    int bad = 0, layers = 0, batch;

    if (argc != 4) {
        (void)fprintf(stderr, "usage: gpu_blocks CFG PIXELS BATCH\n");
        return 2;
    }
    model.cfg = argv[1];
    model.width = model.height = (int)strtol(argv[2], NULL, 10);
    batch = (int)strtol(argv[3], NULL, 10);
    net = model_open(&model);
    for (int i = 0; i < net->n; i++)
        if (net->layers[i].type == CONVOLUTIONAL) {
            layers++;
            bad += are_few(net, i, batch);
        }
    free_network(net);
    printf("%d of %d convolutions have too few blocks\n", bad, layers);
    return bad > 0 || layers == 0;
}
