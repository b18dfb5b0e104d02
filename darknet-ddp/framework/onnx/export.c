#include "onnx/layer_writer.h"

#include "layers/graph.h"
#include "state/weights_hash.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The function that writes a layer of each type. NULL: ONNX has no twin of it, or this program does
 * not write it. [dropout] and [cost] need none: they pass on what they read. */
static ddp_layer_write *const writers[BLANK] = {
    [CONVOLUTIONAL] = ddp_onnx_convolutional,
    [DECONVOLUTIONAL] = ddp_onnx_deconvolutional,
    [CONNECTED] = ddp_onnx_connected,
    [LOCAL] = ddp_onnx_local,
    [BATCHNORM] = ddp_onnx_batchnorm,
    [MAXPOOL] = ddp_onnx_maxpool,
    [AVGPOOL] = ddp_onnx_avgpool,
    [ROUTE] = ddp_onnx_route,
    [SHORTCUT] = ddp_onnx_shortcut,
    [UPSAMPLE] = ddp_onnx_upsample,
    [REORG] = ddp_onnx_reorg,
    [SOFTMAX] = ddp_onnx_softmax,
    [CROP] = ddp_onnx_crop,
    [NORMALIZATION] = ddp_onnx_normalization,
    [L2NORM] = ddp_onnx_l2norm,
    [ACTIVE] = ddp_onnx_active,
    [LOGXENT] = ddp_onnx_logistic,
    [SCALE_CHANNELS] = ddp_onnx_scale_channels,
    [SAM] = ddp_onnx_sam,
    [IMPLICIT] = ddp_onnx_implicit,
    [YOLO] = ddp_onnx_yolo,
    [REGION] = ddp_onnx_region,
    [DETECTION] = ddp_onnx_detection,
    [ISEG] = ddp_onnx_iseg,
};

static int passes_through(const layer *l)
{
    return l->type == DROPOUT || l->type == COST;
}

static int is_head(const layer *l)
{
    return l->type == YOLO || l->type == REGION || l->type == DETECTION || l->type == ISEG;
}

/* ---- layers ---- */

/* Set the dimensions that readers of layer l see. */
static void set_shape(ddp_onnx_tensor *t, const layer *l)
{
    int is_image = l->out_c > 0 && l->out_c * l->out_h * l->out_w == l->outputs;

    t->c = is_image ? l->out_c : l->outputs;
    t->h = is_image ? l->out_h : 0;
    t->w = is_image ? l->out_w : 0;
}

/* [softmax] and [detection] give rows; of a layer whose image is of one pixel these are no image.
 */
static int gives_rows(const layer *l)
{
    return l->type == SOFTMAX || l->type == DETECTION;
}

static ddp_status write_layer(ddp_layer_writer *w, int i, ddp_error *err)
{
    const layer *l = w->net->layers + i;
    ddp_onnx_tensor *out = &w->outputs[i];

    w->index = i;
    if (passes_through(l)) {
        *out = ddp_onnx_layer_input(w, 0);
        return DDP_OK;
    }
    if (!writers[l->type])
        return ddp_onnx_refuse(w, err, "is not written to ONNX");
    ddp_onnx_begin_layer(w->g, i, get_layer_string(l->type));
    set_shape(out, l);
    if (gives_rows(l))
        *out = (ddp_onnx_tensor){.c = l->outputs};
    if (l->type == ACTIVE || l->type == LOGXENT)
        *out = ddp_onnx_layer_input(w, 0);
    return writers[l->type](w, l, &out->value, err);
}

/* ---- what the graph gives ---- */

static void put_output(ddp_layer_writer *w, const char *name, ddp_onnx_tensor t)
{
    ddp_onnx_output(w->g, name, t.value, NULL, (const int64_t[]){t.c, t.h, t.w}, t.h ? 3 : 1);
}

static ddp_status write_outputs(ddp_layer_writer *w, ddp_error *err)
{
    int heads = 0, boxes = 0, last = w->net->n - 1;
    char name[32];

    for (int i = 0; i < w->net->n; i++) {
        heads += is_head(w->net->layers + i);
        boxes += is_head(w->net->layers + i) && w->net->layers[i].type != ISEG;
    }
    if (boxes && w->options.heads != DDP_ONNX_RAW)
        return ddp_onnx_write_boxes(w, err);
    for (int i = 0; i < w->net->n && heads; i++)
        if (is_head(w->net->layers + i)) {
            (void)snprintf(name, sizeof name, "%s_%d", get_layer_string(w->net->layers[i].type), i);
            put_output(w, name, w->outputs[i]);
        }
    while (last > 0 && w->net->layers[last].type == COST)
        last--;
    if (!heads)
        put_output(w, "output", w->outputs[last]);
    return DDP_OK;
}

/* ---- what a caller must know ---- */

static void note(ddp_layer_writer *w, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void note(ddp_layer_writer *w, const char *key, const char *format, ...)
{
    char text[256];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    ddp_onnx_add_metadata(w->g, key, text);
}

/* Note what boxes are made of out of head i. */
static void note_head(ddp_layer_writer *w, int i)
{
    const layer *l = w->net->layers + i;
    int values = l->type == YOLO ? 2 * l->total : 2 * l->n;
    char *text = NULL, key[32];
    size_t size;
    FILE *f = open_memstream(&text, &size);

    if (!f)
        return;
    (void)fprintf(f, "{\"type\": \"%s\", \"classes\": %d, \"anchors\": [",
                  get_layer_string(l->type), l->classes);
    for (int k = 0; k < values && (l->type == YOLO || l->type == REGION); k++)
        (void)fprintf(f, "%s%g", k ? ", " : "", l->biases[k]);
    (void)fprintf(f, "], \"mask\": [");
    for (int k = 0; k < l->n && l->type == YOLO; k++)
        (void)fprintf(f, "%s%d", k ? ", " : "", l->mask[k]);
    (void)fprintf(f, "], \"scale_x_y\": %g, \"new_coords\": %d}",
                  l->type == YOLO && l->yolo.v4 ? l->yolo.scale_x_y : 1.0, l->yolo.new_coords);
    (void)snprintf(key, sizeof key, "head_%d", i);
    if (!fclose(f))
        ddp_onnx_add_metadata(w->g, key, text);
    free(text);
}

static ddp_status write_notes(ddp_layer_writer *w, network *net, ddp_error *err)
{
    static const char *const heads[] = {"raw", "boxes", "nms"};
    int has_heads = 0;
    uint64_t hash;

    if (ddp_weights_hash(&hash, net, err))
        return err->code;
    if (w->options.names)
        ddp_onnx_add_metadata(w->g, "names", w->options.names);
    for (int i = 0; i < net->n; i++)
        if (is_head(net->layers + i)) {
            note_head(w, i);
            has_heads = 1;
        }
    note(w, "input", "RGB, a plane each, values 0 to 1, %d wide, %d high", net->w, net->h);
    note(w, "picture", "%s",
         !has_heads || ddp_onnx_is_letter_boxed(net)
             ? "letter box: scaled to fit, in the middle, gray (0.5) around"
             : "stretched to the input's size");
    note(w, "formulas", "%s", net->yolo_math_v4 ? "YOLOv4's Darknet" : "Darknet");
    note(w, "weights_hash", "xxh3 %016" PRIx64, hash);
    if (!has_heads)
        return DDP_OK;
    note(w, "heads", "%s", heads[w->options.heads]);
    if (w->options.heads != DDP_ONNX_RAW)
        note(w, "box", "left, upper, right, lower side; 0 to 1 of the input");
    if (w->options.heads == DDP_ONNX_NMS)
        note(w, "detections", "picture, box (4), score, class; of scores above %g, overlap to %g",
             w->options.thresh, w->options.nms);
    return DDP_OK;
}

/* ---- the file ---- */

static ddp_status write_model(ddp_layer_writer *w, network *net, FILE *f, ddp_error *err)
{
    ddp_onnx_tensor *t = &w->input;

    *t = net->c > 0 ? (ddp_onnx_tensor){0, net->c, net->h, net->w}
                    : (ddp_onnx_tensor){0, net->inputs, 0, 0};
    t->value = ddp_onnx_input(w->g, "images", (const int64_t[]){t->c, t->h, t->w}, t->h ? 3 : 1);
    for (int i = 0; i < net->n; i++)
        if (write_layer(w, i, err))
            return err->code;
    if (write_outputs(w, err) || write_notes(w, net, err))
        return err->code;
    for (int i = 0; i < net->n && w->options.layer_names; i++)
        w->options.layer_names(w->options.ctx, i, ddp_onnx_name(w->g, w->outputs[i].value));
    return ddp_onnx_write(w->g, "darknet", f, err);
}

ddp_status ddp_onnx_export(network *net, const ddp_onnx_options *options, FILE *f, ddp_error *err)
{
    const ddp_onnx_config config = {.opset = options->opset,
                                    .dynamic_batch = options->dynamic_batch,
                                    .half_weights = options->half_weights};
    ddp_layer_writer w = {.net = net, .options = *options};
    ddp_status st;

    w.outputs = calloc((size_t)net->n, sizeof *w.outputs);
    if (!w.outputs)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a model of %d layers", net->n);
    st = ddp_onnx_open(&w.g, config, err);
    if (!st)
        st = write_model(&w, net, f, err);
    ddp_onnx_close(w.g);
    free(w.outputs);
    return st;
}
