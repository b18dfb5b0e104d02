/* onnx/layer_writer.h: what the files of this module share: the network that is written layer by
 * layer, and steps that several layers have in common. */
#ifndef DDP_ONNX_LAYER_WRITER_H
#define DDP_ONNX_LAYER_WRITER_H

#include "onnx/export.h"
#include "onnx/onnx_graph.h"

#include <activations.h>
#include <darknet.h>
#include <network.h>

/* A value of the graph as a layer gives it. Behind the batch it has the dimensions c, h, w. If it
 * is no image, h is 0, and c is its one dimension. */
typedef struct ddp_onnx_tensor {
    ddp_onnx_value value;
    int c, h, w;
} ddp_onnx_tensor;

typedef struct ddp_layer_writer {
    ddp_onnx *g;
    const network *net;
    ddp_onnx_options options;
    ddp_onnx_tensor input;
    ddp_onnx_tensor *outputs; /* outputs[i]: output of layer i, if the layer is written already */
    int index;                /* the layer that is being written */
} ddp_layer_writer;

/* Write the nodes of layer l, of index w->index, and set *out to its output. Fails with
 * DDP_ERR_NOMEM, or, if ONNX has no twin of the layer, with DDP_ERR_FORMAT and its name. */
typedef ddp_status ddp_layer_write(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out,
                                   ddp_error *err);

ddp_layer_write ddp_onnx_convolutional, ddp_onnx_deconvolutional, ddp_onnx_connected,
    ddp_onnx_local, ddp_onnx_batchnorm, ddp_onnx_maxpool, ddp_onnx_avgpool, ddp_onnx_route,
    ddp_onnx_shortcut, ddp_onnx_upsample, ddp_onnx_reorg, ddp_onnx_softmax, ddp_onnx_crop,
    ddp_onnx_normalization, ddp_onnx_l2norm, ddp_onnx_active, ddp_onnx_logistic,
    ddp_onnx_scale_channels, ddp_onnx_sam, ddp_onnx_implicit, ddp_onnx_yolo, ddp_onnx_region,
    ddp_onnx_detection, ddp_onnx_iseg;

/* Return what layer w->index reads as its k-th input, from 0 (layer_source), which must exist. */
ddp_onnx_tensor ddp_onnx_source(const ddp_layer_writer *w, int k);

/* Return the first input of layer w->index, *l, as an image of l->c x l->h x l->w. */
ddp_onnx_value ddp_onnx_image(ddp_layer_writer *w, const layer *l);

/* Return the first input of layer w->index, *l, as rows of l->inputs values. */
ddp_onnx_value ddp_onnx_rows(ddp_layer_writer *w, const layer *l);

/* Return v with dimensions dims[0..count) behind the batch; at most 7. One of them may be -1: it
 * becomes as long as the values allow. */
ddp_onnx_value ddp_onnx_reshape(ddp_layer_writer *w, ddp_onnx_value v, const int64_t *dims,
                                size_t count);

/* Return v with its dimensions in another order: dimension k is dimension order[k] of v. The batch
 * is dimension 0. */
ddp_onnx_value ddp_onnx_transpose(ddp_layer_writer *w, ddp_onnx_value v, const int64_t *order,
                                  size_t count);

/* Return v cut down to the indexes begin, begin + step, ... below end of dimension axis (0: the
 * batch).
 */
ddp_onnx_value ddp_onnx_slice(ddp_layer_writer *w, ddp_onnx_value v, int axis, int64_t begin,
                              int64_t end, int64_t step);

/* Return the values joined along dimension `axis` (0: the batch); a single value itself. */
ddp_onnx_value ddp_onnx_concat(ddp_layer_writer *w, const ddp_onnx_value *values, size_t count,
                               int axis);

/* Return v, of four dimensions, padded with `value`: dimension k by pads[k] in front, and by
 * pads[4 + k] behind. */
ddp_onnx_value ddp_onnx_pad(ddp_layer_writer *w, ddp_onnx_value v, const int64_t pads[8],
                            float value);

/* Return v * factor; v itself if factor is 1. */
ddp_onnx_value ddp_onnx_scaled(ddp_layer_writer *w, ddp_onnx_value v, float factor);

/* Set *out to activation a of v. Fails with DDP_ERR_FORMAT if nothing here writes a. */
ddp_status ddp_onnx_activation(ddp_layer_writer *w, ddp_onnx_value v, ACTIVATION a,
                               ddp_onnx_value *out, ddp_error *err);

/* Return DDP_ERR_FORMAT, with the text "layer 12, [maxpool]: what" of layer w->index. */
ddp_status ddp_onnx_refuse(const ddp_layer_writer *w, ddp_error *err, const char *what);

/* Add outputs: "boxes" and "scores" of all heads or, with DDP_ONNX_NMS, "detections". Fails with
 * DDP_ERR_FORMAT if a head does not fit. */
ddp_status ddp_onnx_write_boxes(ddp_layer_writer *w, ddp_error *err);

/* Add the output "detections" with what suppression leaves: a row for each box, of its picture's
 * number in the batch, its sides, its score and its class. Layer w->index must be the last head,
 * whose nms_kind says how overlap is measured. Fails with DDP_ERR_FORMAT if the measure needs the
 * picture's shape, which a letter box hides from the file.
 *   boxes    batch x count x 4: left, upper, right and lower side, in parts of the input
 *   scores   batch x count x classes */
ddp_status ddp_onnx_write_nms(ddp_layer_writer *w, ddp_onnx_value boxes, ddp_onnx_value scores,
                              int classes, int64_t count, ddp_error *err);

/* Return 1 if a caller puts pictures into a letter box, 0 if they are stretched to the input. */
int ddp_onnx_is_letter_boxed(const network *net);

#endif
