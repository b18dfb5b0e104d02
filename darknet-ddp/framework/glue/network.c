#include "glue/network.h"

#include "samples/sampler.h"

#include <darknet.h>
#include <network.h>
#include <string.h>
#include <unistd.h>

/* While a cfg is parsed: its name, that of the copy which Darknet reads, and who hears of errors.
 */
static const char *cfg_name, *copy_name;
static void (*outer_handler)(int exit_status, const char *message);

/* A fatal_handler that puts the cfg's name where Darknet names the copy. */
static void fail_with_cfg_name(int exit_status, const char *message)
{
    const char *place = strstr(message, copy_name);
    char text[8192];

    if (!place)
        outer_handler(exit_status, message);
    (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(place - message), message, cfg_name,
                   place + strlen(copy_name));
    outer_handler(exit_status, text);
}

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

static network *parse(char *copy, int gpu)
{
    train_plugin listener = {.world = 1, .draw_for = ddp_draw_for, .draw = ddp_draw};
    network *net;

    in_cfg.outer = train_plugin_active;
    if (in_cfg.outer)
        listener = *in_cfg.outer;
    listener.split_batch = remember_batch;
    train_plugin_active = &listener;
    outer_handler = fatal_handler;
    if (outer_handler)
        fatal_handler = fail_with_cfg_name;
    gpu_index = gpu;
    net = parse_network_cfg(copy);
    fatal_handler = outer_handler;
    train_plugin_active = in_cfg.outer;
    return net;
}

ddp_status ddp_network_load(network **out, ddp_network_shape *shape, const char *cfg,
                            const ddp_cfg_value *values, size_t count, int gpu, ddp_error *err)
{
    char path[DDP_CFG_PATH_BYTES];
    int fd;

    *out = NULL;
    if (ddp_cfg_with(cfg, values, count, path, &fd, err))
        return err->code;
    cfg_name = cfg;
    copy_name = path;
    *out = parse(path, gpu);
    (void)close(fd);
    *shape = (ddp_network_shape){.layers = (*out)->n,
                                 .width = (*out)->w,
                                 .height = (*out)->h,
                                 .time_steps = (*out)->time_steps,
                                 .batch = in_cfg.batch,
                                 .subdivisions = in_cfg.subdivisions};
    return DDP_OK;
}

int ddp_network_is_v4(const network *net, const char **why)
{
    *why = net->yolo_math_why;
    return net->yolo_math_v4;
}

int ddp_network_pictures(const network *net, char text[DDP_PICTURES_BYTES])
{
    const picture_rules *rules = &net->rules;

    if (!rules->forks || net->layers[net->n - 1].type != YOLO)
        return 0;
    (void)snprintf(text, DDP_PICTURES_BYTES, "%s%s",
                   rules->letter_box ? "put into a letter box (letter_box=1)"
                                     : "cut and stretched to the network's size (letter_box=1 in "
                                       "[net] keeps their aspect)",
                   rules->mosaic  ? ", half of the samples are mosaics of four"
                   : rules->mixup ? ", half of the samples mix two"
                                  : "");
    return 1;
}

void ddp_network_freeze(network *net)
{
    net->learning_rate = 0;
}

int ddp_network_misfit(network *net, char text[DDP_MISFIT_BYTES])
{
    return describe_cells(net, text, DDP_MISFIT_BYTES);
}

void ddp_network_read(network *net, const char *weights)
{
    char path[4096];

    (void)snprintf(path, sizeof path, "%s", weights);
    load_weights(net, path);
}

void ddp_network_input(const network *net, int *width, int *height)
{
    *width = net->w;
    *height = net->h;
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

const char **ddp_network_kinds(const network *net)
{
    const char **kinds = malloc((size_t)net->n * sizeof *kinds);

    for (int i = 0; kinds && i < net->n; i++)
        kinds[i] = get_layer_string(net->layers[i].type);
    return kinds;
}

void ddp_network_free(network *net)
{
    free_network(net);
}
