/* onnx/export.h: writes a Darknet network as an ONNX model. */
#ifndef DDP_ONNX_EXPORT_H
#define DDP_ONNX_EXPORT_H

#include "base/status.h"
#include "glue/network.h"

#include <stdint.h>
#include <stdio.h>

/* The outputs of the model. A network that finds no boxes always gets those of DDP_ONNX_RAW. */
typedef enum ddp_onnx_heads {
    DDP_ONNX_RAW, /* the output of each head or, without heads, of the last layer */
    /* all boxes of all heads: "boxes", pictures x boxes x 4, and "scores", pictures x boxes x
     * classes. A box is its left, upper, right and lower side, in fractions of the input */
    DDP_ONNX_BOXES,
    /* "detections": 7 floats for each box and class left after non-maximum suppression: picture's
     * index, left, upper, right and lower side (in fractions of the input), score, class */
    DDP_ONNX_NMS
} ddp_onnx_heads;

typedef struct ddp_onnx_options {
    ddp_onnx_heads heads;
    int opset;         /* version of ONNX's operators, 13 to 18 */
    int keep_bn;       /* 1: write batch_normalize=1 as nodes; 0: multiply it into the weights */
    int dynamic_batch; /* 1: the model takes any number of pictures at a time; 0: one */
    int half_weights;  /* 1: store a layer's weights as float16, if all of them fit */
    float thresh;      /* with DDP_ONNX_NMS: boxes of this score, 0 to 1, or less are left out */
    float nms;         /* with DDP_ONNX_NMS: most overlap, 0 to 1, of two boxes of a class */
    const char *names; /* names of the classes, one on each line; NULL: not known */

    /* Take the name of a layer's output in the model, which is valid during the call. Called for
     * each layer in order, before the model is written. NULL: not called. */
    void (*layer_names)(void *ctx, int layer, const char *name);
    void *ctx; /* first argument of layer_names */
} ddp_onnx_options;

/* Write net, which has its weights on the host and batch 1, to f. The caller must check ferror(f).
 * Fails, before it writes anything, with DDP_ERR_FORMAT (the text names a layer that cannot be
 * written, or the model has 2 GiB or more), DDP_ERR_NOMEM. */
ddp_status ddp_onnx_export(network *net, const ddp_onnx_options *options, FILE *f,
                           ddp_error *err) DDP_MUST_CHECK;

#endif
