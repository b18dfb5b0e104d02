/* core/batchnorm_check.h: refuses mini-batches of one image if BatchNorm then has one value a
 * channel, for one value has no variance. A pure function. */
#ifndef DDP_CORE_BATCHNORM_CHECK_H
#define DDP_CORE_BATCHNORM_CHECK_H

#include "core/batch.h"

/* Refuse a run whose mini-batches have one image, where BatchNorm has one value a channel. Always
 * returns DDP_ERR_USAGE. The text has the nearest values that give two images or more: fewer
 * subdivisions, a larger batch, fewer ranks. Each works alone; one that cannot help is left out.
 *
 *   exact        1: the values must also pass ddp_exact_check; 0: they need not
 *   layer, kind  the BatchNorm layer's index and type */
ddp_status ddp_batchnorm_refuse_one_value(const ddp_exact_run *run, int exact, int layer,
                                          const char *kind, ddp_error *err);

#endif
