/* onnx/layer_writer.h: writes Darknet's layers, boxes and non-maximum suppression as ONNX nodes.
 * Only files of onnx/ include it. onnx/onnx_graph.h explains ddp_onnx_value. */
#ifndef DDP_ONNX_LAYER_WRITER_H
#define DDP_ONNX_LAYER_WRITER_H

#include "onnx/export.h"
#include "onnx/onnx_graph.h"

#include <activations.h>
#include <darknet.h>
#include <network.h>

/* The output of a layer, and its shape. */
typedef struct ddp_onnx_tensor {
    ddp_onnx_value value;
    int c, h, w; /* dimensions of one image; h and w are 0 for a row of c values */
} ddp_onnx_tensor;

/* The state of an export. */
typedef struct ddp_layer_writer {
    ddp_onnx *g;
    const network *net;
    ddp_onnx_options options;
    ddp_onnx_tensor input;    /* the network's input */
    ddp_onnx_tensor *outputs; /* outputs[i]: output of layer i; set for i < index */
    int index;                /* index of the layer that is being written */
} ddp_layer_writer;

/* Write the nodes of layer l, whose index is w->index, and set *out to its output. Fails with
 * DDP_ERR_FORMAT (ONNX cannot compute the layer, which the text names), DDP_ERR_NOMEM. */
typedef ddp_status ddp_layer_write(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out,
                                   ddp_error *err);

ddp_layer_write ddp_onnx_convolutional, ddp_onnx_deconvolutional, ddp_onnx_connected,
    ddp_onnx_local, ddp_onnx_batchnorm, ddp_onnx_maxpool, ddp_onnx_avgpool, ddp_onnx_route,
    ddp_onnx_shortcut, ddp_onnx_upsample, ddp_onnx_reorg, ddp_onnx_softmax, ddp_onnx_crop,
    ddp_onnx_normalization, ddp_onnx_l2norm, ddp_onnx_active, ddp_onnx_logistic,
    ddp_onnx_scale_channels, ddp_onnx_sam, ddp_onnx_implicit, ddp_onnx_yolo, ddp_onnx_region,
    ddp_onnx_detection, ddp_onnx_iseg;

/* Return the k-th input, from 0, of layer w->index, which must have it. */
ddp_onnx_tensor ddp_onnx_layer_input(const ddp_layer_writer *w, int k);

/* Return the first input of l, layer w->index, as an image of l->c x l->h x l->w. */
ddp_onnx_value ddp_onnx_input_as_image(ddp_layer_writer *w, const layer *l);

/* Return the first input of l, layer w->index, as a row of l->inputs values for each image. */
ddp_onnx_value ddp_onnx_input_as_rows(ddp_layer_writer *w, const layer *l);

/* Return v with other dimensions: the batch, and then dims[0..count), at most 7. One of dims may be
 * -1: it becomes as long as v has values for. */
ddp_onnx_value ddp_onnx_reshape(ddp_layer_writer *w, ddp_onnx_value v, const int64_t *dims,
                                size_t count);

/* Return v with its `count` dimensions in another order: dimension k of the result is dimension
 * order[k] of v. Dimension 0 is the batch. */
ddp_onnx_value ddp_onnx_transpose(ddp_layer_writer *w, ddp_onnx_value v, const int64_t *order,
                                  size_t count);

/* Return the part of v with indexes begin, begin + step, ..., below end, in dimension `axis` (0:
 * the batch). */
ddp_onnx_value ddp_onnx_slice(ddp_layer_writer *w, ddp_onnx_value v, int axis, int64_t begin,
                              int64_t end, int64_t step);

/* Return values[0..count) joined along dimension `axis` (0: the batch); with count 1, values[0]. */
ddp_onnx_value ddp_onnx_concat(ddp_layer_writer *w, const ddp_onnx_value *values, size_t count,
                               int axis);

/* Return v, of four dimensions, padded with `value`: in dimension k by pads[k] elements in front
 * and pads[4 + k] behind. */
ddp_onnx_value ddp_onnx_pad(ddp_layer_writer *w, ddp_onnx_value v, const int64_t pads[8],
                            float value);

/* Return v * factor; v itself if factor is 1. */
ddp_onnx_value ddp_onnx_scaled(ddp_layer_writer *w, ddp_onnx_value v, float factor);

/* Set *out to v after activation a. Fails with DDP_ERR_FORMAT if a is not written to ONNX. */
ddp_status ddp_onnx_activation(ddp_layer_writer *w, ddp_onnx_value v, ACTIVATION a,
                               ddp_onnx_value *out, ddp_error *err);

/* Fail with DDP_ERR_FORMAT and a text about layer w->index, such as "layer 12, [maxpool]: WHAT". */
ddp_status ddp_onnx_refuse(const ddp_layer_writer *w, ddp_error *err, const char *what);

/* Write the nodes that compute boxes from all heads, and add the model's outputs: "boxes" and
 * "scores" or, with DDP_ONNX_NMS, "detections". Fails with DDP_ERR_FORMAT if heads have different
 * numbers of classes, a head has a tree of classes, or ddp_onnx_write_nms fails. */
ddp_status ddp_onnx_write_boxes(ddp_layer_writer *w, ddp_error *err);

/* Write the nodes of non-maximum suppression, and add the output "detections" (DDP_ONNX_NMS). Layer
 * w->index must be the last head, since its nms_kind is used. Fails with DDP_ERR_FORMAT if nms_kind
 * measures distances, and pictures are put into a letter box.
 *   boxes    batch x count x 4: left, top, right, bottom
 *   scores   batch x count x classes */
ddp_status ddp_onnx_write_nms(ddp_layer_writer *w, ddp_onnx_value boxes, ddp_onnx_value scores,
                              int classes, int64_t count, ddp_error *err);

/* Return 1 if pictures for net, a detector, must be put into a letter box, 0 if they must be
 * stretched. Other networks always get a letter box. */
int ddp_onnx_is_letter_boxed(const network *net);

#endif
