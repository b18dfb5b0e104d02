#include "onnx/reference.h"

#include "glue/find_boxes.h"

#include <darknet.h>
#include <network.h>

#include <float.h>
#include <stdlib.h>
#include <string.h>

void ddp_onnx_names_add(void *ctx, int layer, const char *name)
{
    ddp_onnx_names *names = ctx;
    char **more = realloc(names->of_layer, ((size_t)layer + 1) * sizeof *more);

    if (!more)
        return;
    names->of_layer = more;
    while (names->count <= layer)
        more[names->count++] = NULL;
    free(more[layer]);
    more[layer] = strdup(name);
}

void ddp_onnx_names_release(ddp_onnx_names *names)
{
    for (int i = 0; i < names->count; i++)
        free(names->of_layer[i]);
    free(names->of_layer);
    *names = (ddp_onnx_names){0};
}

static void put_floats(const float *values, size_t count, FILE *f)
{
    (void)fprintf(f, " %zu\n", count);
    (void)fwrite(values, sizeof *values, count, f);
}

/* ---- the input ---- */

/* Return values of 0 to 1, in squares of 8 pixels and noise, as a picture has: to be freed. */
static float *random_picture(const network *net)
{
    float *values = calloc((size_t)net->inputs, sizeof *values);
    unsigned state = 1;

    for (int i = 0; values && i < net->inputs; i++) {
        unsigned square = (unsigned)(net->w ? i % net->w / 8 + 37 * (i / net->w / 8) : i);

        state = state * 1664525U + 1013904223U;
        values[i] = (float)(square * 2654435761U >> 24) / 320 + (float)(state >> 24) / 1280;
    }
    return values;
}

static float *read_picture(network *net, const char *path)
{
    image picture = load_image_color((char *)path, 0, 0);
    image sized = fit_image(net, picture);

    if (sized.data != picture.data)
        free_image(picture);
    return sized.data;
}

/* ---- boxes ---- */

/* Return 1 if net has a [detection], whose boxes are in parts of the size that it is told. */
static int takes_size(const network *net)
{
    for (int i = 0; i < net->n; i++)
        if (net->layers[i].type == DETECTION)
            return 1;
    return 0;
}

/* Write all boxes that the heads have found, in parts of the input, and their scores. */
static void tell_boxes(network *net, FILE *f)
{
    int of_one = takes_size(net), count;
    detection *found = get_network_boxes(net, of_one ? 1 : net->w, of_one ? 1 : net->h, -FLT_MAX,
                                         .5F, NULL, 1, &count);
    size_t n = (size_t)count, classes = (size_t)ddp_find_classes(net);
    float *sides = calloc(4 * n + 1, sizeof *sides);
    float *scores = calloc(classes * n + 1, sizeof *scores);

    for (size_t i = 0; sides && scores && i < n; i++) {
        box b = found[i].bbox;

        memcpy(sides + 4 * i,
               (const float[]){b.x - b.w / 2, b.y - b.h / 2, b.x + b.w / 2, b.y + b.h / 2},
               4 * sizeof *sides);
        memcpy(scores + classes * i, found[i].prob, classes * sizeof *scores);
    }
    if (sides && scores) {
        (void)fprintf(f, "output boxes");
        put_floats(sides, 4 * n, f);
        (void)fprintf(f, "output scores");
        put_floats(scores, classes * n, f);
    }
    free(sides);
    free(scores);
    free_detections(found, count);
}

static void write_row(void *f, const ddp_detection *d)
{
    const ddp_box *b = &d->box;
    const float row[] = {0,
                         (float)b->left,
                         (float)b->top,
                         (float)(b->left + b->width),
                         (float)(b->top + b->height),
                         (float)d->score,
                         (float)d->class_id};

    (void)fwrite(row, sizeof row, 1, f);
}

static void tell_detections(network *net, const ddp_onnx_options *o, FILE *f)
{
    const ddp_find_rules rules = {
        .least = o->thresh, .hierarchy = .5F, .overlap = o->nms, .classes = ddp_find_classes(net)};
    char *rows = NULL;
    size_t bytes = 0;
    FILE *found = open_memstream(&rows, &bytes);

    if (!found)
        return;
    (void)ddp_find_boxes(net, net->w, net->h, &rules, write_row, found);
    if (!fclose(found)) {
        (void)fprintf(f, "output detections");
        put_floats((const float *)(const void *)rows, bytes / sizeof(float), f);
    }
    free(rows);
}

/* ---- records ---- */

void ddp_onnx_write_reference(network *net, const char *path, const ddp_onnx_options *options,
                              const ddp_onnx_names *names, FILE *f)
{
    float *input = path ? read_picture(net, path) : random_picture(net);
    int is_detector = ddp_find_classes(net) > 0;

    if (!input)
        return;
    (void)network_predict(net, input);
    (void)fprintf(f, "picture %s", path ? path : "random");
    put_floats(input, (size_t)net->inputs, f);
    for (int i = 0; i < net->n && i < names->count; i++) {
        const layer *l = net->layers + i;

        if (!l->output || !names->of_layer[i] || l->type == COST)
            continue;
        (void)fprintf(f, "layer %d %s %s", i, get_layer_string(l->type), names->of_layer[i]);
        put_floats(l->output, (size_t)l->outputs, f);
    }
    if (is_detector && options->heads == DDP_ONNX_BOXES)
        tell_boxes(net, f);
    if (is_detector && options->heads == DDP_ONNX_NMS)
        tell_detections(net, options, f);
    (void)fprintf(f, "compare\n");
    free(input);
}
