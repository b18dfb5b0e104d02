/* ddp-test: quick */
/* The ONNX file of a network, by a reader of its own: what a machine without onnxruntime can tell.
 * run.export compares values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "onnx/export.h"

#include "net.h"

enum { VARINT = 0, BYTES = 2 };
enum { MODEL_GRAPH = 7, GRAPH_NODE = 1, GRAPH_CONSTANT = 5, NODE_OP = 4, TENSOR_BYTES = 9 };

typedef struct bytes {
    const unsigned char *at;
    size_t count;
} bytes;

static uint64_t take_varint(bytes *b)
{
    uint64_t value = 0;

    for (int shift = 0;; shift += 7) {
        assert_true(b->count > 0 && shift < 64);
        value |= (uint64_t)(*b->at & 0x7f) << shift;
        b->count--;
        if (!(*b->at++ & 0x80))
            return value;
    }
}

/* Take a field of a message; of one with bytes set *content. Returns its number. */
static int take_field(bytes *b, bytes *content)
{
    uint64_t key = take_varint(b), size;
    size_t fixed = (key & 7) == 1 ? 8 : (key & 7) == 5 ? 4 : 0;

    *content = (bytes){b->at, 0};
    if ((key & 7) == VARINT) {
        (void)take_varint(b);
        return (int)(key >> 3);
    }
    size = (key & 7) == BYTES ? take_varint(b) : fixed;
    assert_true(size <= b->count);
    *content = (bytes){b->at, size};
    b->at += size;
    b->count -= size;
    return (int)(key >> 3);
}

/* Return the first field of this number, which must be there. */
static bytes field_of(bytes message, int number)
{
    bytes content;

    while (message.count > 0)
        if (take_field(&message, &content) == number)
            return content;
    fail_msg("no field %d", number);
    return message;
}

/* Write the operators of a graph's nodes into text, and return how many bytes its constants hold.
 */
static size_t read_graph(bytes graph, char *text, size_t size)
{
    size_t constants = 0, used = 0;
    bytes content;

    text[0] = 0;
    while (graph.count > 0) {
        int number = take_field(&graph, &content);
        bytes op = number == GRAPH_NODE ? field_of(content, NODE_OP) : (bytes){0};

        if (number == GRAPH_NODE)
            used += (size_t)snprintf(text + used, size - used, "%.*s ", (int)op.count, op.at);
        if (number == GRAPH_CONSTANT)
            constants += field_of(content, TENSOR_BYTES).count;
    }
    return constants;
}

static const char cfg[] =
    "[net]\nbatch=1\nwidth=16\nheight=16\nchannels=3\n"
    "[convolutional]\nbatch_normalize=1\nfilters=4\nsize=3\nstride=2\npad=1\n"
    "activation=mish\n"
    "[maxpool]\nsize=2\nstride=2\n[route]\nlayers=-1,-1\n[avgpool]\n[softmax]\n";

static ddp_status export(const char *text, ddp_onnx_options options, bytes *out, ddp_error *err)
{
    network *net = net_parse(text);
    char *file = NULL;
    ddp_status st;
    FILE *f;

    options.opset = options.opset ? options.opset : 13;
    f = open_memstream(&file, &out->count);
    st = ddp_onnx_export(net, &options, f, err);
    assert_false(fclose(f));
    out->at = (const unsigned char *)file;
    free_network(net);
    return st;
}

static void expect(ddp_onnx_options options, const char *ops, size_t constants)
{
    char text[1024];
    ddp_error err;
    bytes model;

    assert_int_equal(export(cfg, options, &model, &err), DDP_OK);
    assert_int_equal(read_graph(field_of(model, MODEL_GRAPH), text, sizeof text), constants);
    assert_string_equal(text, ops);
    free((void *)model.at);
}

static void layers_become_the_nodes_that_compute_them(void **state)
{
    enum { WEIGHTS = 4 * 3 * 9, BIASES = 4, ROW = 2, GROUPS = 3 };
    size_t shapes = (ROW + GROUPS + ROW) * sizeof(int64_t);

    (void)state;
    expect((ddp_onnx_options){0},
           "Conv Softplus Tanh Mul MaxPool Concat GlobalAveragePool Reshape Reshape Softmax "
           "Reshape Identity ",
           (WEIGHTS + BIASES) * sizeof(float) + shapes);
    expect((ddp_onnx_options){.opset = 18, .keep_bn = 1},
           "Conv BatchNormalization Mish MaxPool Concat GlobalAveragePool Reshape Reshape Softmax "
           "Reshape Identity ",
           (WEIGHTS + 4 * BIASES) * sizeof(float) + shapes);
    expect((ddp_onnx_options){.half_weights = 1},
           "Cast Conv Softplus Tanh Mul MaxPool Concat GlobalAveragePool Reshape Reshape Softmax "
           "Reshape Identity ",
           WEIGHTS * 2 + BIASES * sizeof(float) + shapes);
}

static void a_file_is_the_same_each_time(void **state)
{
    bytes a, b;
    ddp_error err;

    (void)state;
    srand(1);
    assert_int_equal(export(cfg, (ddp_onnx_options){0}, &a, &err), DDP_OK);
    srand(1);
    assert_int_equal(export(cfg, (ddp_onnx_options){0}, &b, &err), DDP_OK);
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.at,
                        "\x08\x07\x12\x0b"
                        "darknet-ddp",
                        15);
    free((void *)a.at);
    free((void *)b.at);
}

static void a_layer_that_is_not_written_is_named(void **state)
{
    bytes out;
    ddp_error err;

    (void)state;
    assert_int_equal(export("[net]\nbatch=1\nwidth=8\nheight=8\nchannels=3\n[avgpool]\n"
                            "[gru]\noutput=4\n",
                            (ddp_onnx_options){0}, &out, &err),
                     DDP_ERR_FORMAT);
    assert_string_equal(err.text, "layer 1, [gru]: is not written to ONNX");
    free((void *)out.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_become_the_nodes_that_compute_them),
        cmocka_unit_test(a_file_is_the_same_each_time),
        cmocka_unit_test(a_layer_that_is_not_written_is_named),
    };

    return cmocka_run_group_tests_name("onnx", tests, NULL, NULL);
}
