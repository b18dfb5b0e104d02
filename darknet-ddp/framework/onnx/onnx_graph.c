/* Builds an ONNX model of protobuf messages. Numbers of fields, types and attribute kinds are those
 * of onnx.proto. */
#include "onnx/onnx_graph.h"

#include "base/protobuf.h"
#include "device/float16.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MODEL_IR = 1, MODEL_PRODUCER = 2, MODEL_GRAPH = 7, MODEL_OPSET = 8, MODEL_METADATA = 14 };
enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_CONSTANT = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_OP = 4, NODE_ATTRIBUTE = 5 };
enum { TENSOR_DIM = 1, TENSOR_TYPE = 2, TENSOR_NAME = 8, TENSOR_BYTES = 9 };
enum { FLOAT = 1, INT64 = 7, BOOL = 9, FLOAT16 = 10 };
enum { KIND_FLOAT = 1, KIND_INT = 2, KIND_TEXT = 3, KIND_GRAPH = 5, KIND_INTS = 7 };

enum { NAME = 96 };

struct ddp_onnx {
    ddp_onnx_config config;
    ddp_protobuf ports;                    /* inputs and outputs of the graph */
    ddp_protobuf nodes;                    /* its nodes, with their fields' keys */
    ddp_protobuf constants;                /* its constants; mostly these are the file */
    ddp_protobuf outer_ports, outer_nodes; /* while a body is written, those of the graph */
    ddp_protobuf metadata;
    ddp_protobuf attributes; /* of the next node */
    char (*names)[NAME];     /* of value v: names[v - 1] */
    int values, room;
    char layer[NAME / 2]; /* what names begin with */
    int failed;
};

/* ---- values and their names ---- */

static ddp_onnx_value name_value(ddp_onnx *g, const char *what, int counted)
{
    if (g->values == g->room) {
        int room = g->room ? 2 * g->room : 256;
        char(*names)[NAME] = realloc(g->names, (size_t)room * sizeof *names);

        if (!names) {
            g->failed = 1;
            return 0;
        }
        g->names = names;
        g->room = room;
    }
    if (counted)
        (void)snprintf(g->names[g->values], NAME, "%s%.30s_%d", g->layer, what, g->values);
    else
        (void)snprintf(g->names[g->values], NAME, "%s", what);
    return ++g->values;
}

const char *ddp_onnx_name(const ddp_onnx *g, ddp_onnx_value v)
{
    return v > 0 ? g->names[v - 1] : "";
}

void ddp_onnx_begin_layer(ddp_onnx *g, int layer, const char *kind)
{
    (void)snprintf(g->layer, sizeof g->layer, "layer%d_%.20s/", layer, kind);
}

/* ---- inputs and outputs ---- */

/* Add an input or output of elements `type`. shape: its dimensions; NULL: they are not told. */
static void put_port(ddp_onnx *g, int field, const char *name, int type, ddp_protobuf *shape)
{
    ddp_protobuf tensor = {0}, of = {0}, info = {0};

    ddp_protobuf_put_int(&tensor, 1, type);
    if (shape)
        ddp_protobuf_put_message(&tensor, 2, shape);
    ddp_protobuf_put_message(&of, 1, &tensor);
    ddp_protobuf_put_text(&info, 1, name);
    ddp_protobuf_put_message(&info, 2, &of);
    ddp_protobuf_put_message(&g->ports, field, &info);
}

static void put_dims(ddp_protobuf *shape, const int64_t *dims, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ddp_protobuf dim = {0};

        ddp_protobuf_put_int(&dim, 1, dims[i]);
        ddp_protobuf_put_message(shape, 1, &dim);
    }
}

/* Return the shape of rows x dims. rows: the name of the first dimension; NULL: it is 1. */
static ddp_protobuf shape_of(const char *rows, const int64_t *dims, size_t count)
{
    ddp_protobuf shape = {0}, first = {0};

    if (rows)
        ddp_protobuf_put_text(&first, 2, rows);
    else
        ddp_protobuf_put_int(&first, 1, 1);
    ddp_protobuf_put_message(&shape, 1, &first);
    put_dims(&shape, dims, count);
    return shape;
}

ddp_onnx_value ddp_onnx_input(ddp_onnx *g, const char *name, const int64_t *dims, size_t count)
{
    ddp_protobuf shape = shape_of(g->config.dynamic_batch ? "N" : NULL, dims, count);

    put_port(g, GRAPH_INPUT, name, FLOAT, &shape);
    return name_value(g, name, 0);
}

/* ---- constants ---- */

static void put_tensor(ddp_onnx *g, const char *name, int type, const void *bytes, size_t size,
                       const int64_t *dims, size_t count)
{
    ddp_protobuf tensor = {0};

    for (size_t i = 0; i < count; i++)
        ddp_protobuf_put_int(&tensor, TENSOR_DIM, dims[i]);
    ddp_protobuf_put_int(&tensor, TENSOR_TYPE, type);
    ddp_protobuf_put_text(&tensor, TENSOR_NAME, name);
    ddp_protobuf_put_bytes(&tensor, TENSOR_BYTES, bytes, size);
    ddp_protobuf_put_message(&g->constants, GRAPH_CONSTANT, &tensor);
}

static size_t elements_of(const int64_t *dims, size_t count)
{
    size_t n = 1;

    for (size_t i = 0; i < count; i++)
        n *= (size_t)dims[i];
    return n;
}

/* Return values as float16, to be freed; NULL if one is too large for it, or memory lacks. */
static uint16_t *as_halves(const float *values, size_t n)
{
    enum { LARGEST = 65504 };
    uint16_t *halves = malloc(n * sizeof *halves);

    for (size_t i = 0; halves && i < n; i++) {
        if (!(fabsf(values[i]) <= LARGEST)) {
            free(halves);
            return NULL;
        }
        halves[i] = ddp_to_fp16(values[i]);
    }
    return halves;
}

ddp_onnx_value ddp_onnx_floats(ddp_onnx *g, const char *what, const float *values,
                               const int64_t *dims, size_t count)
{
    ddp_onnx_value v = name_value(g, what, 1);

    put_tensor(g, ddp_onnx_name(g, v), FLOAT, values, elements_of(dims, count) * sizeof *values,
               dims, count);
    return v;
}

ddp_onnx_value ddp_onnx_weights(ddp_onnx *g, const float *values, const int64_t *dims, size_t count)
{
    size_t n = elements_of(dims, count);
    uint16_t *halves = g->config.half_weights ? as_halves(values, n) : NULL;
    ddp_onnx_value v;

    if (!halves)
        return ddp_onnx_floats(g, "weights", values, dims, count);
    v = name_value(g, "weights", 1);
    put_tensor(g, ddp_onnx_name(g, v), FLOAT16, halves, n * sizeof *halves, dims, count);
    free(halves);
    ddp_onnx_attribute_int(g, "to", FLOAT);
    return ddp_onnx_node1(g, "Cast", v);
}

ddp_onnx_value ddp_onnx_scalar(ddp_onnx *g, float value)
{
    return ddp_onnx_floats(g, "value", &value, NULL, 0);
}

ddp_onnx_value ddp_onnx_ints(ddp_onnx *g, const int64_t *values, size_t count)
{
    ddp_onnx_value v = name_value(g, "numbers", 1);
    int64_t dim = (int64_t)count;

    put_tensor(g, ddp_onnx_name(g, v), INT64, values, count * sizeof *values, &dim, 1);
    return v;
}

/* ---- nodes ---- */

static void put_attribute(ddp_onnx *g, const char *name, ddp_protobuf *value, int kind)
{
    ddp_protobuf attribute = {0};

    ddp_protobuf_put_text(&attribute, 1, name);
    ddp_protobuf_append(&attribute, value);
    ddp_protobuf_put_int(&attribute, 20, kind);
    ddp_protobuf_put_message(&g->attributes, NODE_ATTRIBUTE, &attribute);
}

void ddp_onnx_attribute_int(ddp_onnx *g, const char *name, int64_t value)
{
    ddp_protobuf field = {0};

    ddp_protobuf_put_int(&field, 3, value);
    put_attribute(g, name, &field, KIND_INT);
}

void ddp_onnx_attribute_ints(ddp_onnx *g, const char *name, const int64_t *values, size_t count)
{
    ddp_protobuf fields = {0};

    for (size_t i = 0; i < count; i++)
        ddp_protobuf_put_int(&fields, 8, values[i]);
    put_attribute(g, name, &fields, KIND_INTS);
}

void ddp_onnx_attribute_float(ddp_onnx *g, const char *name, float value)
{
    ddp_protobuf field = {0};

    ddp_protobuf_put_float(&field, 2, value);
    put_attribute(g, name, &field, KIND_FLOAT);
}

void ddp_onnx_attribute_text(ddp_onnx *g, const char *name, const char *value)
{
    ddp_protobuf field = {0};

    ddp_protobuf_put_text(&field, 4, value);
    put_attribute(g, name, &field, KIND_TEXT);
}

/* unused: a value that the node makes before `output`; 0: none. */
static void put_node(ddp_onnx *g, const char *op, const ddp_onnx_value *inputs, size_t count,
                     ddp_onnx_value unused, const char *output)
{
    ddp_protobuf node = {0};

    for (size_t i = 0; i < count; i++)
        ddp_protobuf_put_text(&node, NODE_INPUT, ddp_onnx_name(g, inputs[i]));
    if (unused)
        ddp_protobuf_put_text(&node, NODE_OUTPUT, ddp_onnx_name(g, unused));
    ddp_protobuf_put_text(&node, NODE_OUTPUT, output);
    ddp_protobuf_put_text(&node, NODE_NAME, output);
    ddp_protobuf_put_text(&node, NODE_OP, op);
    ddp_protobuf_append(&node, &g->attributes);
    ddp_protobuf_put_message(&g->nodes, GRAPH_NODE, &node);
}

ddp_onnx_value ddp_onnx_node(ddp_onnx *g, const char *op, const ddp_onnx_value *inputs,
                             size_t count)
{
    ddp_onnx_value v = name_value(g, op, 1);

    put_node(g, op, inputs, count, 0, ddp_onnx_name(g, v));
    return v;
}

ddp_onnx_value ddp_onnx_node1(ddp_onnx *g, const char *op, ddp_onnx_value a)
{
    return ddp_onnx_node(g, op, &a, 1);
}

ddp_onnx_value ddp_onnx_node2(ddp_onnx *g, const char *op, ddp_onnx_value a, ddp_onnx_value b)
{
    return ddp_onnx_node(g, op, (const ddp_onnx_value[]){a, b}, 2);
}

ddp_onnx_value ddp_onnx_node3(ddp_onnx *g, const char *op, ddp_onnx_value a, ddp_onnx_value b,
                              ddp_onnx_value c)
{
    return ddp_onnx_node(g, op, (const ddp_onnx_value[]){a, b, c}, 3);
}

void ddp_onnx_output(ddp_onnx *g, const char *name, ddp_onnx_value v, const char *rows,
                     const int64_t *dims, size_t count)
{
    const char *batch = g->config.dynamic_batch ? "N" : NULL;
    ddp_protobuf shape = shape_of(rows ? rows : batch, dims, count);

    put_node(g, "Identity", &v, 1, 0, name);
    put_port(g, GRAPH_OUTPUT, name, FLOAT, &shape);
}

/* ---- loops ---- */

ddp_onnx_value ddp_onnx_begin_loop(ddp_onnx *g)
{
    ddp_protobuf number = {0}, go_on = {0};

    g->outer_ports = g->ports;
    g->outer_nodes = g->nodes;
    g->ports = g->nodes = (ddp_protobuf){0};
    put_port(g, GRAPH_INPUT, ddp_onnx_name(g, name_value(g, "turn", 1)), INT64, &number);
    put_port(g, GRAPH_INPUT, ddp_onnx_name(g, name_value(g, "go_on", 1)), BOOL, &go_on);
    put_port(g, GRAPH_INPUT, ddp_onnx_name(g, name_value(g, "carried", 1)), FLOAT, NULL);
    return g->values;
}

static void put_body_output(ddp_onnx *g, ddp_onnx_value v, int type, ddp_protobuf *shape)
{
    v = ddp_onnx_node1(g, "Identity", v);
    put_port(g, GRAPH_OUTPUT, ddp_onnx_name(g, v), type, shape);
}

ddp_onnx_value ddp_onnx_end_loop(ddp_onnx *g, ddp_onnx_value go_on, ddp_onnx_value carried,
                                 ddp_onnx_value row, int64_t length, ddp_onnx_value first_go_on,
                                 ddp_onnx_value first_carried)
{
    const ddp_onnx_value inputs[] = {0, first_go_on, first_carried};
    ddp_protobuf scalar = {0}, shape = {0}, body = {0}, field = {0};
    ddp_onnx_value v, unused;

    put_dims(&shape, &length, 1);
    put_body_output(g, go_on, BOOL, &scalar);
    put_body_output(g, carried, FLOAT, NULL);
    put_body_output(g, row, FLOAT, &shape);
    ddp_protobuf_put_text(&body, GRAPH_NAME, "body");
    ddp_protobuf_append(&body, &g->ports);
    ddp_protobuf_append(&body, &g->nodes);
    g->ports = g->outer_ports;
    g->nodes = g->outer_nodes;
    g->outer_ports = g->outer_nodes = (ddp_protobuf){0};
    ddp_protobuf_put_message(&field, 6, &body);
    put_attribute(g, "body", &field, KIND_GRAPH);
    unused = name_value(g, "carried", 1);
    v = name_value(g, "Loop", 1);
    put_node(g, "Loop", inputs, 3, unused, ddp_onnx_name(g, v));
    return v;
}

/* ---- the model ---- */

void ddp_onnx_add_metadata(ddp_onnx *g, const char *key, const char *value)
{
    ddp_protobuf pair = {0};

    ddp_protobuf_put_text(&pair, 1, key);
    ddp_protobuf_put_text(&pair, 2, value);
    ddp_protobuf_put_message(&g->metadata, MODEL_METADATA, &pair);
}

static void put_head(const ddp_onnx *g, ddp_protobuf *head, size_t graph_bytes)
{
    ddp_protobuf opset = {0};

    ddp_protobuf_put_int(head, MODEL_IR, g->config.opset < 15 ? 7 : 8);
    ddp_protobuf_put_text(head, MODEL_PRODUCER, "darknet-ddp");
    ddp_protobuf_put_int(&opset, 2, g->config.opset);
    ddp_protobuf_put_message(head, MODEL_OPSET, &opset);
    ddp_protobuf_begin_bytes(head, MODEL_GRAPH, graph_bytes);
}

/* Constants are not copied into a message of the whole model: each part goes to the file. */
ddp_status ddp_onnx_write(ddp_onnx *g, const char *name, FILE *f, ddp_error *err)
{
    ddp_protobuf head = {0}, title = {0};
    const ddp_protobuf *const parts[] = {&head,     &title,        &g->ports,
                                         &g->nodes, &g->constants, &g->metadata};
    size_t count = sizeof parts / sizeof parts[0], bytes = 0;
    int failed = g->failed;

    ddp_protobuf_put_text(&title, GRAPH_NAME, name);
    put_head(g, &head, title.count + g->ports.count + g->nodes.count + g->constants.count);
    for (size_t i = 0; i < count; i++) {
        failed |= parts[i]->failed;
        bytes += parts[i]->count;
    }
    for (size_t i = 0; i < count && !failed && bytes < INT_MAX; i++)
        (void)fwrite(parts[i]->bytes, 1, parts[i]->count, f);
    ddp_protobuf_release(&head);
    ddp_protobuf_release(&title);
    if (failed)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for an ONNX model");
    if (bytes >= INT_MAX)
        return ddp_fail(err, DDP_ERR_FORMAT,
                        "an ONNX file holds less than 2 GiB, this model has %zu bytes", bytes);
    return DDP_OK;
}

ddp_status ddp_onnx_open(ddp_onnx **out, ddp_onnx_config config, ddp_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for an ONNX model");
    (*out)->config = config;
    return DDP_OK;
}

void ddp_onnx_close(ddp_onnx *g)
{
    if (!g)
        return;
    ddp_protobuf_release(&g->ports);
    ddp_protobuf_release(&g->nodes);
    ddp_protobuf_release(&g->outer_ports);
    ddp_protobuf_release(&g->outer_nodes);
    ddp_protobuf_release(&g->constants);
    ddp_protobuf_release(&g->metadata);
    ddp_protobuf_release(&g->attributes);
    free(g->names);
    free(g);
}
