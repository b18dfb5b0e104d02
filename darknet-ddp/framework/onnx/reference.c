#include "onnx/reference.h"

#include <darknet.h>
#include <network.h>

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { DETECTION_VALUES = 7 };

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

static const layer *first_head(const network *net)
{
    for (int i = 0; i < net->n; i++)
        if (net->layers[i].type == YOLO || net->layers[i].type == REGION
            || net->layers[i].type == DETECTION)
            return net->layers + i;
    return NULL;
}

/* Return what the heads have found, in parts of the input. */
static detection *find_boxes(network *net, const layer *head, float thresh, int *count)
{
    int is_part = head->type == DETECTION; /* whose boxes are in parts of what is given here */

    return get_network_boxes(net, is_part ? 1 : net->w, is_part ? 1 : net->h, thresh, .5F, NULL, 1,
                             count);
}

static void put_sides(float sides[4], box b)
{
    sides[0] = b.x - b.w / 2;
    sides[1] = b.y - b.h / 2;
    sides[2] = b.x + b.w / 2;
    sides[3] = b.y + b.h / 2;
}

static void tell_boxes(network *net, const layer *head, FILE *f)
{
    int count;
    detection *found = find_boxes(net, head, -FLT_MAX, &count);
    size_t n = (size_t)count, classes = (size_t)head->classes;
    float *sides = calloc(4 * n + 1, sizeof *sides);
    float *scores = calloc(classes * n + 1, sizeof *scores);

    for (size_t i = 0; sides && scores && i < n; i++) {
        put_sides(sides + 4 * i, found[i].bbox);
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

static void tell_detections(network *net, const layer *head, const ddp_onnx_options *o, FILE *f)
{
    int count;
    detection *found = find_boxes(net, head, o->thresh, &count);
    float *rows =
        calloc(DETECTION_VALUES * (size_t)count * (size_t)head->classes + 1, sizeof *rows);
    float *row = rows;

    suppress_boxes(net, found, count, head->classes, o->nms);
    for (int i = 0; rows && i < count; i++)
        for (int k = 0; k < head->classes; k++)
            if (found[i].prob[k] > 0) {
                put_sides(row + 1, found[i].bbox);
                row[5] = found[i].prob[k];
                row[6] = (float)k;
                row += DETECTION_VALUES;
            }
    if (rows) {
        (void)fprintf(f, "output detections");
        put_floats(rows, (size_t)(row - rows), f);
    }
    free(rows);
    free_detections(found, count);
}

/* ---- records ---- */

void ddp_onnx_tell(network *net, const char *path, const ddp_onnx_options *options,
                   const ddp_onnx_names *names, FILE *f)
{
    float *input = path ? read_picture(net, path) : random_picture(net);
    const layer *head = first_head(net);

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
    if (head && options->heads == DDP_ONNX_BOXES)
        tell_boxes(net, head, f);
    if (head && options->heads == DDP_ONNX_NMS)
        tell_detections(net, head, options, f);
    (void)fprintf(f, "compare\n");
    free(input);
}
