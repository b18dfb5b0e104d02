/* onnx/reference.h: writes what each layer of a network gives for a picture, so that a program can
 * compare it with what the ONNX file gives. Records come in this order. A record is a line of words
 * and, behind it, `count` floats in this machine's order of bytes:
 *
 *   picture PATH count         the input; PATH is "random" for random values
 *   layer N TYPE NAME count    the output of layer N, which the file calls NAME; not of a [cost]
 *   output NAME count          boxes and scores, or detections, by options->heads
 *   compare                    the picture's last record, without count and floats
 */
#ifndef DDP_ONNX_REFERENCE_H
#define DDP_ONNX_REFERENCE_H

#include "onnx/export.h"

/* The names that a file has for the outputs of layers. All zero: none yet. */
typedef struct ddp_onnx_names {
    char **of_layer; /* name of each of `count` layers; a NULL name: there was no memory for it */
    int count;
} ddp_onnx_names;

/* Note the name of a layer's output. Serves as ddp_onnx_options.layer_names; ctx: a ddp_onnx_names.
 * Without memory the layer gets no name, and so no record. */
void ddp_onnx_names_add(void *ctx, int layer, const char *name);

/* Free the names; there are none then. */
void ddp_onnx_names_release(ddp_onnx_names *names);

/* Run net, on the host and of batch 1, on the picture at path (NULL: on random values), and write
 * its records to f. A picture that cannot be read ends the program. Without memory for random
 * values it writes nothing. The caller looks at ferror(f). */
void ddp_onnx_tell(network *net, const char *path, const ddp_onnx_options *options,
                   const ddp_onnx_names *names, FILE *f);

#endif
