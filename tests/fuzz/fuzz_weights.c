/* Fuzzes weights files, read into a network with each way of storing a layer that is common. */
#include "guarded.h"

#include "checkpoint/match.h"

#include <darknet.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char cfg[] =
    "[net]\nbatch=1\nwidth=8\nheight=8\nchannels=1\n"
    "[convolutional]\nbatch_normalize=1\nfilters=2\nsize=3\nactivation=leaky\n"
    "[batchnorm]\n[connected]\noutput=2\nactivation=linear\n"
    "[rnn]\nhidden=2\noutput=2\n[softmax]\n";

enum { MEMORY = 16 << 20 };

struct input {
    const uint8_t *data;
    size_t size;
    const char *cfg, *weights;
};

static void load(void *arg)
{
    struct input *in = arg;
    network *net = parse_network_cfg((char *)in->cfg);

    load_weights(net, (char *)in->weights);
    (void)network_predict(net, net->input);
    free_network(net);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size, guarded_file(0, (const uint8_t *)cfg, sizeof cfg - 1),
                       guarded_file(1, data, size)};
    ddp_error err;

    (void)guarded_run(load, &in, MEMORY);
    if (ddp_match_check_finite(in.weights, &err) == DDP_ERR_NOMEM)
        abort();
    return 0;
}
