/* core/batchnorm_check.h: mini-batches of one image, and BatchNorm where an image has one value a
 * channel: one value has no variance. A pure function. */
#ifndef DDP_CORE_BATCHNORM_CHECK_H
#define DDP_CORE_BATCHNORM_CHECK_H

#include "core/batch.h"

/* run is cut into mini-batches of one image, and `layer` normalises over them one value a channel.
 * exact: -ddp_exact's rules hold too. Returns DDP_ERR_USAGE with the nearest values that give
 * mini-batches of two images or more in the text, one thing changed at a time. */
ddp_status ddp_batchnorm_refuse_one_value(const ddp_exact_run *run, int exact, int layer,
                                          const char *kind, ddp_error *err);

#endif
