#include "glue/param_table.h"

#include <darknet.h>
#include <network.h>
#include <xxhash.h>

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
        if (!l->update || l->share_layer)
            return 0; /* it has no parameters, or another layer's */
        parts[0] =
            (struct part){l, "weights", "biases", "scales", "rolling mean", "rolling variance"};
        return 1;
    }
}

struct sizes {
    size_t weights, biases, scales;
    size_t rows; /* of weights as the matrix that Darknet multiplies by; 0: it is none */
};

static struct sizes sizes_of(const layer *l)
{
    size_t n = (size_t)l->n, outputs = (size_t)l->outputs, c = (size_t)l->c;
    size_t kernel = (size_t)l->size * (size_t)l->size;
    int normalized = l->batch_normalize;

    switch (l->type) {
    case CONVOLUTIONAL:
        return (struct sizes){(size_t)l->nweights, n, normalized ? n : 0, n};
    case DECONVOLUTIONAL:
        return (struct sizes){kernel * c * n, n, normalized ? n : 0, c};
    case CONNECTED:
        return (struct sizes){(size_t)l->inputs * outputs, outputs, normalized ? outputs : 0,
                              outputs};
    case LOCAL:
        return (struct sizes){kernel * c * n * (size_t)(l->out_w * l->out_h), outputs, 0, outputs};
    case BATCHNORM:
        return (struct sizes){0, c, c, 0};
    default:
        return (struct sizes){(size_t)l->nweights, 0, 0, 0};
    }
}

static void add_param(ddp_param_table *table, ddp_param param)
{
    if (param.count > 0)
        table->params[table->param_count++] = param;
}

/* An array of a layer's: where its pointer is kept, and that to the same on the host. */
struct kept {
    float **slot, *host;
};

static void add_buffer_of(ddp_optimizer *optimizer, int k, struct kept kept, const char *name)
{
    optimizer->buffer[k] = *kept.slot;
    optimizer->name[k] = name;
    optimizer->slot[k] = kept.slot;
    optimizer->host[k] = kept.host;
}

/* The buffers that optimize_cpu uses, Adam's where the layer has them, else momentum; and behind
 * them the average of the values, if the cfg asks for one. */
static ddp_optimizer optimizer_of(struct kept momentum, struct kept m, struct kept v,
                                  struct kept average)
{
    ddp_optimizer optimizer = {.moments = m.host && v.host ? 2 : 1};

    if (optimizer.moments == 2) {
        add_buffer_of(&optimizer, 0, m, "m");
        add_buffer_of(&optimizer, 1, v, "v");
    } else {
        add_buffer_of(&optimizer, 0, momentum, "momentum");
    }
    add_buffer_of(&optimizer, optimizer.moments, average, "average");
    return optimizer;
}

/* A layer's pointer to an array on the host, or to the same array on its GPU. */
#ifdef GPU
#define SLOT(l, name) (on_gpu ? &(l)->name##_gpu : &(l)->name)
#else
#define SLOT(l, name) ((void)on_gpu, &(l)->name)
#endif
#define ARRAY(l, name) (*SLOT(l, name))
#define KEPT(l, name) ((struct kept){SLOT(l, name), (l)->name})

static void add_params(ddp_param_table *table, int layer_index, const char *kind, struct part p)
{
    struct sizes size = sizes_of(p.sub);
    int on_gpu = !ddp_device_is_host(table->device);
    layer *l = p.sub;

    add_param(table, (ddp_param){layer_index, kind, p.biases, size.biases, ARRAY(l, biases),
                                 SLOT(l, bias_updates),
                                 optimizer_of(KEPT(l, bias_momentum), KEPT(l, bias_m),
                                              KEPT(l, bias_v), KEPT(l, bias_average)),
                                 0});
    add_param(table, (ddp_param){layer_index, kind, p.scales, size.scales, ARRAY(l, scales),
                                 SLOT(l, scale_updates),
                                 optimizer_of(KEPT(l, scale_momentum), KEPT(l, scale_m),
                                              KEPT(l, scale_v), KEPT(l, scale_average)),
                                 0});
    add_param(table, (ddp_param){layer_index, kind, p.weights, size.weights, ARRAY(l, weights),
                                 SLOT(l, weight_updates),
                                 optimizer_of(KEPT(l, weight_momentum), KEPT(l, m), KEPT(l, v),
                                              KEPT(l, weight_average)),
                                 size.rows});
}

/* How often a mini-batch's forward pass normalizes by the layer: a recurrent one for every time
 * step, one that others share once for each. */
static int times_normalized(const network *net, const layer *l)
{
    int times =
        l->type == RNN || l->type == CRNN || l->type == GRU || l->type == LSTM ? l->steps : 1;

    for (int i = 0; i < net->n; i++)
        times += net->layers[i].share_layer == l;
    return times;
}

/* Return the factor that a running statistic of l is multiplied by in one forward pass of net.
 * forward_batchnorm_layer multiplies by a float of Darknet's each time that it normalizes. */
static double kept_of(const network *net, const layer *l)
{
    int times = times_normalized(net, l);
    double keep = 1;

    while (times-- > 0)
        keep *= (double)(net->yolo_math_v4 ? 0.9F : 0.99F);
    return keep;
}

static void add_buffer(ddp_param_table *table, ddp_buffer buffer)
{
    table->buffers[table->buffer_count++] = buffer;
}

static void add_part(ddp_param_table *table, const network *net, int layer_index, struct part p)
{
    const layer *l = &net->layers[layer_index];
    const char *kind = get_layer_string(l->type);
    size_t scales = sizes_of(p.sub).scales;
    int on_gpu = !ddp_device_is_host(table->device);
    double keep = kept_of(net, l);

    add_params(table, layer_index, kind, p);
    if (scales == 0)
        return;
    add_buffer(table,
               (ddp_buffer){layer_index, kind, p.mean, scales, keep, SLOT(p.sub, rolling_mean)});
    add_buffer(table, (ddp_buffer){layer_index, kind, p.variance, scales, keep,
                                   SLOT(p.sub, rolling_variance)});
}

ddp_status ddp_param_table_init(ddp_param_table *table, network *net, ddp_device *device,
                                ddp_error *err)
{
    size_t most_parts = (size_t)net->n * MOST_PARTS;

    *table = (ddp_param_table){.device = device, .layer_count = net->n};
    table->params = calloc(most_parts * PARAMS_A_PART, sizeof *table->params);
    table->buffers = calloc(most_parts * BUFFERS_A_PART, sizeof *table->buffers);
    if (!table->params || !table->buffers) {
        ddp_param_table_release(table);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to list the parameters of %d layers",
                        net->n);
    }
    for (int i = 0; i < net->n; i++) {
        struct part parts[MOST_PARTS];
        layer *l = &net->layers[i];
        int count = parts_of(l, parts);
        size_t before = table->param_count;

        for (int p = 0; p < count; p++)
            add_part(table, net, i, parts[p]);
        if (count > 0 && table->param_count == before) {
            ddp_param_table_release(table);
            return ddp_fail(err, DDP_ERR_USAGE,
                            "layer %d, [%s], is updated, and glue/param_table.c does not know what",
                            i, get_layer_string(l->type));
        }
        if (l->stopbackward == 1)
            table->first_trained = i + 1;
    }
    return DDP_OK;
}

void ddp_param_table_release(ddp_param_table *table)
{
    free(table->params);
    free(table->buffers);
    *table = (ddp_param_table){0};
}

uint64_t ddp_param_table_hash(const ddp_param_table *table)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < table->param_count; i++)
        hash = XXH3_64bits_withSeed(table->params[i].value, table->params[i].count * sizeof(float),
                                    hash);
    for (size_t i = 0; i < table->buffer_count; i++)
        hash = XXH3_64bits_withSeed(*table->buffers[i].slot,
                                    table->buffers[i].count * sizeof(float), hash);
    return hash;
}

/* ---- the host's arrays and the GPU's ---- */

static void copy_array(ddp_device *device, float *host, float *x, size_t count, int to_host)
{
    if (to_host)
        ddp_device_pull(device, host, x, count);
    else
        ddp_device_push(device, x, host, count);
}

static void copy_param(ddp_device *device, const ddp_param *host, const ddp_param *there,
                       int to_host)
{
    copy_array(device, host->value, there->value, host->count, to_host);
    for (int k = 0; k < DDP_OPTIMIZER_BUFFERS && host->optimizer.buffer[k]; k++)
        if (there->optimizer.buffer[k])
            copy_array(device, host->optimizer.buffer[k], there->optimizer.buffer[k], host->count,
                       to_host);
}

static ddp_status copy_all(const ddp_param_table *host, network *net, ddp_device *device,
                           int to_host, ddp_error *err)
{
    ddp_param_table there;

    if (ddp_device_is_host(device))
        return DDP_OK;
    if (ddp_param_table_init(&there, net, device, err))
        return err->code;
    for (size_t i = 0; i < host->param_count; i++)
        copy_param(device, &host->params[i], &there.params[i], to_host);
    for (size_t i = 0; i < host->buffer_count; i++)
        copy_array(device, *host->buffers[i].slot, *there.buffers[i].slot, host->buffers[i].count,
                   to_host);
    ddp_param_table_release(&there);
    return DDP_OK;
}

ddp_status ddp_param_table_pull(const ddp_param_table *host, network *net, ddp_device *device,
                                ddp_error *err)
{
    return copy_all(host, net, device, 1, err);
}

ddp_status ddp_param_table_push(const ddp_param_table *host, network *net, ddp_device *device,
                                ddp_error *err)
{
    return copy_all(host, net, device, 0, err);
}

static ddp_status check_finite(ddp_device *device, const float *x, size_t count, int layer,
                               const char *kind, const char *part, ddp_error *err)
{
    int finite;

    if (ddp_device_check_finite(device, x, count, &finite, err))
        return err->code;
    if (!finite)
        return ddp_fail(err, DDP_ERR_FORMAT, "layer %d (%s) %s: a number is not finite", layer,
                        kind, part);
    return DDP_OK;
}

ddp_status ddp_param_table_check_finite(const ddp_param_table *table, ddp_error *err)
{
    ddp_status st = DDP_OK;

    for (size_t i = 0; i < table->param_count && !st; i++) {
        const ddp_param *p = &table->params[i];

        st = check_finite(table->device, p->value, p->count, p->layer, p->kind, p->part, err);
    }
    for (size_t i = 0; i < table->buffer_count && !st; i++) {
        const ddp_buffer *b = &table->buffers[i];

        st = check_finite(table->device, *b->slot, b->count, b->layer, b->kind, b->part, err);
    }
    return st;
}
