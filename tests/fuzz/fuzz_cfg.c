/* Fuzzes cfg files: they are parsed, and if the network is small, a step runs on random data. The
 * first byte says whether unknown keys pass. */
#include "guarded.h"

#include "base/cfg_text.h"
#include "glue/trainable.h"
#include "timing/synthetic.h"

#include <darknet.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MEMORY = 8 << 20 };

/* Multiplications of a step, in thousand millions, and layers: no more than takes a moment. */
static const double most_work = 0.002;
static const int most_layers = 12;

static double work_of(const network *net)
{
    double work = 0;

    for (int i = 0; i < net->n; i++) {
        const layer *l = &net->layers[i];

        work += (double)l->outputs * l->batch * (1 + (double)l->size * l->size) / 1e9;
        if (l->outputs > 0)
            work += (double)l->nweights * l->batch / 1e9;
        if (l->type == CONVOLUTIONAL || l->type == DECONVOLUTIONAL || l->type == LOCAL)
            work += (double)l->nweights * l->out_w * l->out_h * l->batch / 1e9;
        else if (l->type != MAXPOOL)
            work += (double)l->inputs * l->outputs * l->batch / 1e9;
    }
    return work * (net->subdivisions < 1 ? 1 : net->subdivisions);
}

static void train(void *arg)
{
    network *net = parse_network_cfg(arg);
    ddp_error err;

    if (net->n <= most_layers && work_of(net) < most_work
        && ddp_check_trainable(net, &err) == DDP_OK) {
        ddp_synthetic_fill(net, 1, 0);
        (void)train_network_datum(net);
    }
    free_network(net);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ddp_cfg_text text;
    ddp_error err;

    if (size < 1)
        return 0;
    cfg_allow_unknown_keys = data[0] & 1;
    (void)guarded_run(train, (void *)guarded_file(0, data + 1, size - 1), MEMORY);
    if (ddp_cfg_text_read(&text, (const char *)data + 1, size - 1, &err) == DDP_OK) {
        ddp_cfg_section section;

        for (size_t at = 0; ddp_cfg_next_section(&text, &at, &section);)
            (void)ddp_cfg_find(&section, "batch");
    }
    ddp_cfg_text_release(&text);
    return 0;
}
