/* glue/trainable.h: networks that cannot train: a layer type that Darknet trains wrongly, no
 * weights at all, or a BatchNorm of one value a channel. */
#ifndef DDP_GLUE_TRAINABLE_H
#define DDP_GLUE_TRAINABLE_H

#include "base/status.h"
#include "glue/network.h"

/* Fail with DDP_ERR_USAGE if net has a layer that Darknet does not train correctly (lstm, gru; the
 * error says which), or no layer with weights. */
ddp_status ddp_check_trainable(const network *net, ddp_error *err) DDP_MUST_CHECK;

/* Return the index of the first layer whose BatchNorm has one value a channel in each of net's
 * mini-batches; -1: none has. The value less its mean is 0, and its variance 0 divided by 0. */
int ddp_layer_with_one_value(const network *net);

#endif
