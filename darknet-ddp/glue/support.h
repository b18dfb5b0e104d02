/* glue/support.h: which networks Darknet itself can train here. */
#ifndef DDP_GLUE_SUPPORT_H
#define DDP_GLUE_SUPPORT_H

#include "base/status.h"

#include <darknet.h>

/* DDP_ERR_USAGE if net is on a GPU, or has a layer that Darknet cannot train
 * rightly on the CPU (lstm, gru); the error says which. */
ddp_status ddp_check_trainable(const network *net, ddp_error *err) DDP_MUST_CHECK;

#endif
