#include "glue/table.h"

#include <network.h>

/* The layers that a recurrent layer is made of, and what messages call them. */
struct part {
    layer *sub;
    const char *weights, *biases, *scales;
    const char *mean, *variance;
};

enum { MOST_PARTS = 8, PARAMS_A_PART = 3, BUFFERS_A_PART = 2 };

#define NAMED_PART(sub, name)                                                                      \
    {                                                                                              \
        sub, name " weights", name " biases", name " scales", name " mean", name " variance"       \
    }

static int parts_of(layer *l, struct part *parts)
{
    switch (l->type) {
    case CONVOLUTIONAL:
    case DECONVOLUTIONAL:
    case CONNECTED:
    case LOCAL:
    case BATCHNORM:
        parts[0] =
            (struct part){l, "weights", "biases", "scales", "rolling mean", "rolling variance"};
        return 1;
    case RNN:
    case CRNN:
        parts[0] = (struct part)NAMED_PART(l->input_layer, "input");
        parts[1] = (struct part)NAMED_PART(l->self_layer, "self");
        parts[2] = (struct part)NAMED_PART(l->output_layer, "output");
        return 3;
    case GRU:
        parts[0] = (struct part)NAMED_PART(l->wz, "wz");
        parts[1] = (struct part)NAMED_PART(l->wr, "wr");
        parts[2] = (struct part)NAMED_PART(l->wh, "wh");
        parts[3] = (struct part)NAMED_PART(l->uz, "uz");
        parts[4] = (struct part)NAMED_PART(l->ur, "ur");
        parts[5] = (struct part)NAMED_PART(l->uh, "uh");
        return 6;
    case LSTM:
        parts[0] = (struct part)NAMED_PART(l->wf, "wf");
        parts[1] = (struct part)NAMED_PART(l->wi, "wi");
        parts[2] = (struct part)NAMED_PART(l->wg, "wg");
        parts[3] = (struct part)NAMED_PART(l->wo, "wo");
        parts[4] = (struct part)NAMED_PART(l->uf, "uf");
        parts[5] = (struct part)NAMED_PART(l->ui, "ui");
        parts[6] = (struct part)NAMED_PART(l->ug, "ug");
        parts[7] = (struct part)NAMED_PART(l->uo, "uo");
        return 8;
    default:
        return 0;
    }
}

struct sizes {
    size_t weights, biases, scales;
};

static struct sizes sizes_of(const layer *l)
{
    size_t n = (size_t)l->n, outputs = (size_t)l->outputs, c = (size_t)l->c;
    size_t kernel = (size_t)l->size * (size_t)l->size;
    int normalized = l->batch_normalize;

    switch (l->type) {
    case CONVOLUTIONAL:
        return (struct sizes){(size_t)l->nweights, n, normalized ? n : 0};
    case DECONVOLUTIONAL:
        return (struct sizes){kernel * c * n, n, normalized ? n : 0};
    case CONNECTED:
        return (struct sizes){(size_t)l->inputs * outputs, outputs, normalized ? outputs : 0};
    case LOCAL:
        return (struct sizes){kernel * c * n * (size_t)(l->out_w * l->out_h), outputs, 0};
    case BATCHNORM:
        return (struct sizes){0, c, c};
    default:
        return (struct sizes){0};
    }
}

static void add_param(ddp_table *table, ddp_param param)
{
    if (param.count > 0)
        table->params[table->param_count++] = param;
}

/* The buffers that optimize_cpu uses: Adam's where the layer has them, else momentum. */
static void set_optimizer(ddp_param *param, float *momentum, float *m, float *v)
{
    if (m && v) {
        param->optimizer[0] = m;
        param->optimizer_name[0] = "m";
        param->optimizer[1] = v;
        param->optimizer_name[1] = "v";
    } else {
        param->optimizer[0] = momentum;
        param->optimizer_name[0] = "momentum";
    }
}

static void add_part(ddp_table *table, int layer_index, const char *kind, struct part p)
{
    struct sizes size = sizes_of(p.sub);
    layer *l = p.sub;
    ddp_param biases = {layer_index, kind, p.biases, size.biases, l->biases, &l->bias_updates};
    ddp_param scales = {layer_index, kind, p.scales, size.scales, l->scales, &l->scale_updates};
    ddp_param weights = {layer_index,  kind,       p.weights,
                         size.weights, l->weights, &l->weight_updates};

    set_optimizer(&biases, l->bias_momentum, l->bias_m, l->bias_v);
    set_optimizer(&scales, l->scale_momentum, l->scale_m, l->scale_v);
    set_optimizer(&weights, l->weight_momentum, l->m, l->v);
    add_param(table, biases);
    add_param(table, scales);
    add_param(table, weights);
    if (size.scales == 0)
        return;
    table->buffers[table->buffer_count++] =
        (ddp_buffer){layer_index, kind, p.mean, size.scales, &p.sub->rolling_mean};
    table->buffers[table->buffer_count++] =
        (ddp_buffer){layer_index, kind, p.variance, size.scales, &p.sub->rolling_variance};
}

ddp_status ddp_table_init(ddp_table *table, network *net, ddp_error *err)
{
    size_t most_parts = (size_t)net->n * MOST_PARTS;

    *table = (ddp_table){.layer_count = net->n};
    table->params = calloc(most_parts * PARAMS_A_PART, sizeof *table->params);
    table->buffers = calloc(most_parts * BUFFERS_A_PART, sizeof *table->buffers);
    if (!table->params || !table->buffers) {
        ddp_table_release(table);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to list the parameters of %d layers",
                        net->n);
    }
    for (int i = 0; i < net->n; i++) {
        struct part parts[MOST_PARTS];
        layer *l = &net->layers[i];
        int count = parts_of(l, parts);

        for (int p = 0; p < count; p++)
            add_part(table, i, get_layer_string(l->type), parts[p]);
        if (l->stopbackward)
            table->first_trained = i + 1;
    }
    return DDP_OK;
}

void ddp_table_release(ddp_table *table)
{
    free(table->params);
    free(table->buffers);
    *table = (ddp_table){0};
}
