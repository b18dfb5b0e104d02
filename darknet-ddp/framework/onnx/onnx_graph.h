/* onnx/onnx_graph.h: an ONNX model that is being written: nodes, constants, metadata. It knows
 * nothing of Darknet.
 *
 *   1. ddp_onnx_open, ddp_onnx_input
 *   2. constants and nodes, each after the values that it reads; attributes right before their node
 *   3. ddp_onnx_output, ddp_onnx_note
 *   4. ddp_onnx_write, ddp_onnx_close
 *
 * Arrays and texts are copied. Where memory lacks, the calls go on without effect, and
 * ddp_onnx_write fails. */
#ifndef DDP_ONNX_ONNX_GRAPH_H
#define DDP_ONNX_ONNX_GRAPH_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct ddp_onnx ddp_onnx;

/* A tensor of the graph: an input, a constant, or what a node makes. 0: none. */
typedef int ddp_onnx_value;

typedef struct ddp_onnx_config {
    int opset;         /* 13 to 18 */
    int dynamic_batch; /* 1: the first dimension of inputs and outputs is N; 0: it is 1 */
    int half_weights;  /* 1: weights are kept as float16, and cast where they are read */
} ddp_onnx_config;

/* Open an empty model; free it by ddp_onnx_close. Fails with DDP_ERR_NOMEM; *out is then NULL. */
ddp_status ddp_onnx_open(ddp_onnx **out, ddp_onnx_config config, ddp_error *err) DDP_MUST_CHECK;

/* Return the opset of the model's config. */
int ddp_onnx_opset(const ddp_onnx *g);

/* Begin layer number `layer`: names of all later constants and nodes begin with "layer12_maxpool/",
 * if layer is 12 and kind "maxpool". */
void ddp_onnx_begin_layer(ddp_onnx *g, int layer, const char *kind);

/* Add an input of floats, of batch x dims[0..count). */
ddp_onnx_value ddp_onnx_input(ddp_onnx *g, const char *name, const int64_t *dims, size_t count);

/* Make v, of floats, the output `name`. Its dimensions are the batch and dims[0..count). rows:
 * NULL; else the name of a first dimension in place of the batch, known only when the graph runs.
 */
void ddp_onnx_output(ddp_onnx *g, const char *name, ddp_onnx_value v, const char *rows,
                     const int64_t *dims, size_t count);

/* Add a constant of floats, of dims[0..count). `what` becomes part of its name. */
ddp_onnx_value ddp_onnx_floats(ddp_onnx *g, const char *what, const float *values,
                               const int64_t *dims, size_t count);

/* Add weights of dims[0..count), and return a value of floats. With half_weights they are stored as
 * float16, and a Cast node makes them floats. If one is too large for float16, all are stored as
 * floats. */
ddp_onnx_value ddp_onnx_weights(ddp_onnx *g, const float *values, const int64_t *dims,
                                size_t count);

/* Add a constant float that has no dimension. */
ddp_onnx_value ddp_onnx_scalar(ddp_onnx *g, float value);

/* Add a constant of int64, of one dimension. */
ddp_onnx_value ddp_onnx_ints(ddp_onnx *g, const int64_t *values, size_t count);

/* Add attribute `name` to the node that is added next, also by ddp_onnx_weights. */
void ddp_onnx_attribute_int(ddp_onnx *g, const char *name, int64_t value);
void ddp_onnx_attribute_ints(ddp_onnx *g, const char *name, const int64_t *values, size_t count);
void ddp_onnx_attribute_float(ddp_onnx *g, const char *name, float value);
void ddp_onnx_attribute_text(ddp_onnx *g, const char *name, const char *value);

/* Add a node of operator `op` that reads inputs[0..count) (0: an optional input that is left out),
 * and return what it makes. */
ddp_onnx_value ddp_onnx_node(ddp_onnx *g, const char *op, const ddp_onnx_value *inputs,
                             size_t count);
ddp_onnx_value ddp_onnx_node1(ddp_onnx *g, const char *op, ddp_onnx_value a);
ddp_onnx_value ddp_onnx_node2(ddp_onnx *g, const char *op, ddp_onnx_value a, ddp_onnx_value b);
ddp_onnx_value ddp_onnx_node3(ddp_onnx *g, const char *op, ddp_onnx_value a, ddp_onnx_value b,
                              ddp_onnx_value c);

/* Begin the body of a loop. All nodes that are added until ddp_onnx_end_loop are computed in each
 * turn; they may also read values from before. Returns the floats that the turn before handed on,
 * `carried` of ddp_onnx_end_loop; in the first turn, first_carried. Loops are not nested. */
ddp_onnx_value ddp_onnx_begin_loop(ddp_onnx *g);

/* End the loop, and return the rows of its turns, turns x length.
 *   go_on           bool without a dimension, of the body: 1: there is another turn
 *   carried         floats of the body that the next turn gets
 *   row             `length` floats of the body, one row of the result
 *   first_go_on     bool without a dimension: 1: there is a first turn
 *   first_carried   what the first turn gets */
ddp_onnx_value ddp_onnx_end_loop(ddp_onnx *g, ddp_onnx_value go_on, ddp_onnx_value carried,
                                 ddp_onnx_value row, int64_t length, ddp_onnx_value first_go_on,
                                 ddp_onnx_value first_carried);

/* Return the name of v, which lives until the next value is added; "" for 0. */
const char *ddp_onnx_name(const ddp_onnx *g, ddp_onnx_value v);

/* Add a pair of metadata to the model. */
void ddp_onnx_note(ddp_onnx *g, const char *key, const char *value);

/* Write the model to f. name: the graph's. Fails with DDP_ERR_NOMEM, or with DDP_ERR_FORMAT if the
 * model has 2 GiB or more, which readers refuse; nothing is written then. The caller looks at
 * ferror(f). */
ddp_status ddp_onnx_write(ddp_onnx *g, const char *name, FILE *f, ddp_error *err) DDP_MUST_CHECK;

/* Free g. NULL is allowed. */
void ddp_onnx_close(ddp_onnx *g);

#endif
