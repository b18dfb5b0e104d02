/* onnx/onnx_graph.h: builds an ONNX model of nodes, constants and metadata, and writes it to a
 * file. Knows nothing of Darknet.
 *
 *   1. ddp_onnx_open, ddp_onnx_input
 *   2. add constants and nodes, each after the values that it reads; attributes before their node
 *   3. ddp_onnx_output, ddp_onnx_add_metadata
 *   4. ddp_onnx_write, ddp_onnx_close
 *
 * Arrays and texts are copied. Without memory for the model, functions may return 0, and
 * ddp_onnx_write fails. */
#ifndef DDP_ONNX_ONNX_GRAPH_H
#define DDP_ONNX_ONNX_GRAPH_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct ddp_onnx ddp_onnx;

/* A tensor of the graph: an input, a constant, or the output of a node. 0: none. */
typedef int ddp_onnx_value;

typedef struct ddp_onnx_config {
    int opset;         /* version of ONNX's operators, 13 to 18 */
    int dynamic_batch; /* 1: inputs and outputs have any batch; 0: they have batch 1 */
    int half_weights;  /* 1: weights in float16's range are stored as float16, cast where read */
} ddp_onnx_config;

/* Open an empty model; free it by ddp_onnx_close. Fails with DDP_ERR_NOMEM; *out is then NULL. */
ddp_status ddp_onnx_open(ddp_onnx **out, ddp_onnx_config config, ddp_error *err) DDP_MUST_CHECK;

/* Let the names of later constants and nodes, but not of outputs, begin with layer and kind:
 * "layer12_maxpool/" for layer 12 and kind "maxpool". */
void ddp_onnx_begin_layer(ddp_onnx *g, int layer, const char *kind);

/* Add an input of floats, whose dimensions are the batch and dims[0..count). */
ddp_onnx_value ddp_onnx_input(ddp_onnx *g, const char *name, const int64_t *dims, size_t count);

/* Add an output of the model: value v, of floats. Its dimensions are the batch and dims[0..count).
 * rows: NULL, or the name of a dimension in place of the batch, whose length is known only when the
 * model runs. */
void ddp_onnx_output(ddp_onnx *g, const char *name, ddp_onnx_value v, const char *rows,
                     const int64_t *dims, size_t count);

/* Add a constant of floats with dimensions dims[0..count). `what` becomes part of its name. */
ddp_onnx_value ddp_onnx_floats(ddp_onnx *g, const char *what, const float *values,
                               const int64_t *dims, size_t count);

/* Add weights with dimensions dims[0..count), and return a value of floats. With half_weights they
 * are stored as float16, and a Cast node makes floats of them. If one is NaN or too large for
 * float16, or memory is short, all are stored as floats. */
ddp_onnx_value ddp_onnx_weights(ddp_onnx *g, const float *values, const int64_t *dims,
                                size_t count);

/* Add a constant float without dimensions. */
ddp_onnx_value ddp_onnx_scalar(ddp_onnx *g, float value);

/* Add a constant of int64 with one dimension, of length count. */
ddp_onnx_value ddp_onnx_ints(ddp_onnx *g, const int64_t *values, size_t count);

/* Give an attribute to the node that is added next. Add the node's weights before: ddp_onnx_weights
 * may add a node, too. */
void ddp_onnx_attribute_int(ddp_onnx *g, const char *name, int64_t value);
void ddp_onnx_attribute_ints(ddp_onnx *g, const char *name, const int64_t *values, size_t count);
void ddp_onnx_attribute_float(ddp_onnx *g, const char *name, float value);
void ddp_onnx_attribute_text(ddp_onnx *g, const char *name, const char *value);

/* Add a node of operator `op`, and return its output. inputs[k] 0: the optional input k is left
 * out. ddp_onnx_node1, 2 and 3 take that many inputs as arguments. */
ddp_onnx_value ddp_onnx_node(ddp_onnx *g, const char *op, const ddp_onnx_value *inputs,
                             size_t count);
ddp_onnx_value ddp_onnx_node1(ddp_onnx *g, const char *op, ddp_onnx_value a);
ddp_onnx_value ddp_onnx_node2(ddp_onnx *g, const char *op, ddp_onnx_value a, ddp_onnx_value b);
ddp_onnx_value ddp_onnx_node3(ddp_onnx *g, const char *op, ddp_onnx_value a, ddp_onnx_value b,
                              ddp_onnx_value c);

/* Begin the body of a loop: nodes that are added until ddp_onnx_end_loop are computed once a turn.
 * They may also read values from before the loop. Returns the floats that the turn before has
 * carried over (ddp_onnx_end_loop). Loops cannot be nested. */
ddp_onnx_value ddp_onnx_begin_loop(ddp_onnx *g);

/* End the body of a loop, and return the rows of all turns: turns x length floats. Values of the
 * body:
 *   row             the turn's row, `length` floats
 *   go_on           bool without dimensions; true: another turn follows
 *   carried         floats that the next turn gets from ddp_onnx_begin_loop
 * Values from before the loop:
 *   first_go_on     bool without dimensions; true: there is a first turn
 *   first_carried   floats that the first turn gets from ddp_onnx_begin_loop */
ddp_onnx_value ddp_onnx_end_loop(ddp_onnx *g, ddp_onnx_value go_on, ddp_onnx_value carried,
                                 ddp_onnx_value row, int64_t length, ddp_onnx_value first_go_on,
                                 ddp_onnx_value first_carried);

/* Return the name of v, which is valid until the next value is added; "" if v is 0. */
const char *ddp_onnx_name(const ddp_onnx *g, ddp_onnx_value v);

/* Add a key and its value to the model's metadata. */
void ddp_onnx_add_metadata(ddp_onnx *g, const char *key, const char *value);

/* Write the model to f. name: name of its graph. The caller must check ferror(f). Fails, before it
 * writes anything, with DDP_ERR_FORMAT (the model has 2 GiB or more, which readers refuse),
 * DDP_ERR_NOMEM. */
ddp_status ddp_onnx_write(ddp_onnx *g, const char *name, FILE *f, ddp_error *err) DDP_MUST_CHECK;

/* Free g. NULL is allowed. */
void ddp_onnx_close(ddp_onnx *g);

#endif
