#include "glue/network.h"

#include "glue/darknet.h"
#include "layers/first_weights.h"
#include "layers/onednn/convolution.h"
#include "samples/sampler.h"

#include <darknet.h>
#include <network.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const train_plugin *outer; /* NULL: none */
    int batch, subdivisions;
} in_cfg;

/* The network keeps batch / subdivisions, rounded down: listen while it is parsed. */
static void remember_batch(int *batch, int *subdivisions)
{
    in_cfg.batch = *batch;
    in_cfg.subdivisions = *subdivisions;
    if (in_cfg.outer)
        in_cfg.outer->split_batch(batch, subdivisions);
}

static network *parse(const char *cfg, int gpu)
{
    train_plugin listener = {.is_first = 1, .draw_for = ddp_draw_for, .draw = ddp_draw};
    network *net;

    in_cfg.outer = train_plugin_active;
    if (in_cfg.outer)
        listener = *in_cfg.outer;
    listener.split_batch = remember_batch;
    train_plugin_active = &listener;
    gpu_index = gpu;
    net = parse_network_cfg((char *)cfg);
    train_plugin_active = in_cfg.outer;
    return net;
}

/* Values of [net], as text. */
struct net_values {
    cfg_value list[DDP_NET_NUMBERS_MOST + DDP_NET_VALUES_MOST + 1]; /* a NULL key ends them */
    char text[DDP_NET_NUMBERS_MOST][16];
    size_t count;
};

static int has(const struct net_values *v, const char *key)
{
    for (size_t i = 0; i < v->count; i++)
        if (strcmp(v->list[i].key, key) == 0)
            return 1;
    return 0;
}

/* The numbers, and what the command line says besides them. */
static void join(struct net_values *v, const ddp_net_number *numbers, size_t count)
{
    for (size_t i = 0; i < count && i < DDP_NET_NUMBERS_MOST; i++) {
        if (!numbers[i].value)
            continue;
        (void)snprintf(v->text[i], sizeof v->text[i], "%d", numbers[i].value);
        v->list[v->count++] = (cfg_value){numbers[i].key, v->text[i]};
    }
    for (const cfg_value *outer = cfg_net_values; outer && outer->key; outer++)
        if (!has(v, outer->key))
            v->list[v->count++] = *outer;
}

network *ddp_network_load(ddp_network_shape *shape, const char *cfg, const ddp_net_number *numbers,
                          size_t count, int gpu, int draws)
{
    const cfg_value *outer = cfg_net_values;
    struct net_values values = {0};
    network *net;

    join(&values, numbers, count);
    cfg_net_values = values.list;
    skip_first_weights(!draws); /* a million of them take 40 ms */
    net = parse(cfg, gpu);
    skip_first_weights(0);
    cfg_net_values = outer;
    *shape = (ddp_network_shape){.layers = net->n,
                                 .width = net->w,
                                 .height = net->h,
                                 .outputs = net->outputs,
                                 .mirrors = !net->rules.no_flip,
                                 .time_steps = net->time_steps,
                                 .batch = in_cfg.batch,
                                 .subdivisions = in_cfg.subdivisions};
    return net;
}

const char *ddp_network_why_v4(const network *net)
{
    return net->yolo_math_why;
}

int ddp_network_saves_average(const network *net)
{
    return net->ema_alpha > 0;
}

int ddp_network_describe_pictures(const network *net, char text[DDP_NETWORK_TEXT])
{
    const picture_rules *rules = &net->rules;

    if (!rules->forks || net->layers[net->n - 1].type != YOLO)
        return 0;
    (void)snprintf(text, DDP_NETWORK_TEXT, "%s%s",
                   rules->letter_box ? "put into a letter box (letter_box=1)"
                                     : "cut and stretched to the network's size (letter_box=1 in "
                                       "[net] keeps their aspect)",
                   rules->mosaic  ? ", half of the samples are mosaics of four"
                   : rules->mixup ? ", half of the samples mix two"
                                  : "");
    return 1;
}

int ddp_network_untrained_size(const network *net, char text[DDP_NETWORK_TEXT])
{
    enum { LEAST = 320, MOST = 608 }; /* as train_detector draws them */
    const layer *last = &net->layers[net->n - 1];
    int draws = last->random && !last->yolo.v4 && (last->type == YOLO || last->type == REGION);

    if (!draws || (net->w >= LEAST && net->w <= MOST && net->h >= LEAST && net->h <= MOST))
        return 0;
    (void)snprintf(text, DDP_NETWORK_TEXT,
                   "random=1 draws sizes from %d to %d for pictures to train on, whatever width=%d "
                   "and height=%d say, at which the model is tested",
                   LEAST, MOST, net->w, net->h);
    return 1;
}

void ddp_network_freeze(network *net)
{
    net->learning_rate = 0;
    net->learning_rate_min = 0; /* to which policy=sgdr goes back */
}

int ddp_network_bad_size(network *net, char text[DDP_NETWORK_TEXT])
{
    return describe_cells(net, text, DDP_NETWORK_TEXT) > 0;
}

int ddp_network_smallest_cell(const network *net)
{
    int most = 0;

    for (int i = 0; i < net->n; i++)
        if ((net->layers[i].type == YOLO || net->layers[i].type == REGION)
            && net->layers[i].w > most)
            most = net->layers[i].w;
    return most ? net->w / most : 0;
}

void ddp_network_read_weights(network *net, const char *weights)
{
    char path[4096];

    (void)snprintf(path, sizeof path, "%s", weights);
    load_weights(net, path);
}

void ddp_network_input_size(const network *net, int *width, int *height)
{
    *width = net->w;
    *height = net->h;
}

ddp_status ddp_network_check_bf16(const network *net, ddp_error *err)
{
    if (net->gpu_index >= 0)
        return ddp_fail(err, DDP_ERR_USAGE, "-bf16 1 is for CPUs, and the network is on a GPU");
    if (!convolution_has_bf16())
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-bf16 1: this CPU has no instructions for bf16 (avx512_bf16, AMX), or the "
                        "program was built without oneDNN");
    return DDP_OK;
}

ddp_head_layers ddp_network_heads(const network *net)
{
    ddp_head_layers heads = {.count = 0};

    for (int i = 0; i < net->n && heads.count < DDP_HEADS; i++) {
        LAYER_TYPE type = net->layers[i].type;

        if (type != YOLO && type != REGION)
            continue;
        heads.layers[heads.count] = i;
        heads.kinds[heads.count++] = type == YOLO ? "yolo" : "region";
    }
    return heads;
}

const char **ddp_network_layer_types(const network *net)
{
    const char **kinds = malloc((size_t)net->n * sizeof *kinds);

    for (int i = 0; kinds && i < net->n; i++)
        kinds[i] = get_layer_string(net->layers[i].type);
    return kinds;
}

void ddp_network_free(network *net)
{
    /* free_network leaves these. A GPU's workspace is not of malloc. */
    void *const left[] = {net->seen, net->t, net->cost, net->gpu_index < 0 ? net->workspace : NULL};

    for (int i = 0; i < net->n; i++)
        if (net->layers[i].type == YOLO)
            free(net->layers[i].mask);
    free_network(net);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        free(left[i]);
}
