/* glue/trainable.h: finds networks that cannot be trained. */
#ifndef DDP_GLUE_TRAINABLE_H
#define DDP_GLUE_TRAINABLE_H

#include "base/status.h"
#include "glue/network.h"

/* Fail with DDP_ERR_USAGE if net has a layer that Darknet does not train correctly (lstm, gru; the
 * error says which), or no layer with weights. */
ddp_status ddp_check_trainable(const network *net, ddp_error *err) DDP_MUST_CHECK;

/* Return the index of the first layer whose BatchNorm gets only one value for each channel of a
 * mini-batch, so that it cannot normalize; -1: there is none. */
int ddp_find_layer_with_one_value(const network *net);

#endif
