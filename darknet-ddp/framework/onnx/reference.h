/* onnx/reference.h: writes the outputs of a network's layers for a picture, as Darknet computes
 * them, so that a program can compare them with those of the ONNX model.
 *
 * It writes these records, in this order. A record is a line of words, followed by `count` floats
 * in this machine's byte order:
 *
 *   picture PATH count         the input; PATH is "random" for random values
 *   layer N TYPE NAME count    for each layer with a NAME in the model, but [cost]: its output
 *   output NAME count          "boxes" and "scores", "detections", or none, by options->heads;
 *                              none for a network that finds no boxes
 *   compare                    the last record; it has no count and no floats */
#ifndef DDP_ONNX_REFERENCE_H
#define DDP_ONNX_REFERENCE_H

#include "onnx/export.h"

/* The names of layers' outputs in an ONNX model. All zero: no names. */
typedef struct ddp_onnx_names {
    char **of_layer; /* of_layer[i]: name of layer i's output; NULL: it has none */
    int count;
} ddp_onnx_names;

/* Add the name of a layer's output to ctx, a ddp_onnx_names; it serves as
 * ddp_onnx_options.layer_names. Without memory the layer gets no name, and so no record. */
void ddp_onnx_names_add(void *ctx, int layer, const char *name);

/* Free the names, and make *names all zero. */
void ddp_onnx_names_release(ddp_onnx_names *names);

/* Predict a picture with net, and write the records to f. net is on the host, with batch 1. A
 * picture that cannot be read ends the program. The caller must check ferror(f).
 *   path   the picture; NULL: random values (without memory for them, nothing is written) */
void ddp_onnx_write_reference(network *net, const char *path, const ddp_onnx_options *options,
                              const ddp_onnx_names *names, FILE *f);

#endif
