/* onnx/export.h: writes a network as an ONNX file. */
#ifndef DDP_ONNX_EXPORT_H
#define DDP_ONNX_EXPORT_H

#include "base/status.h"
#include "glue/network.h"

#include <stdint.h>
#include <stdio.h>

/* The outputs of the file. A network without boxes is always written as DDP_ONNX_RAW. */
typedef enum ddp_onnx_heads {
    DDP_ONNX_RAW,   /* the output of each head; without heads, of the last layer */
    DDP_ONNX_BOXES, /* boxes and scores of all heads */
    DDP_ONNX_NMS    /* boxes that non-maximum suppression leaves */
} ddp_onnx_heads;

typedef struct ddp_onnx_options {
    ddp_onnx_heads heads;
    int opset;         /* 13 to 18 */
    int keep_bn;       /* 1: BatchNormalization is a node of its own; 0: part of the weights */
    int dynamic_batch; /* 1: any number of pictures at a time; 0: one */
    int half_weights;  /* 1: weights are kept as float16 */
    float thresh, nms; /* for DDP_ONNX_NMS: least score; most overlap (nms_kind); 0 to 1 */
    const char *names; /* the classes' names, a line each; NULL: none are known */

    /* Called for each layer in order, before the file is written. name: that of the layer's output
     * in the file, valid until the function returns. NULL: not called. */
    void (*layer_names)(void *ctx, int layer, const char *name);
    void *ctx;
} ddp_onnx_options;

/* Write net, whose weights are loaded and whose batch is 1, to f. Fails, with nothing written, with
 * DDP_ERR_NOMEM, or with DDP_ERR_FORMAT if a layer cannot be written (the text names it) or the
 * model has 2 GiB or more. The caller looks at ferror(f). */
ddp_status ddp_onnx_export(network *net, const ddp_onnx_options *options, FILE *f,
                           ddp_error *err) DDP_MUST_CHECK;

#endif
