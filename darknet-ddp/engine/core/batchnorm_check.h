/* core/batchnorm_check.h: refuses mini-batches of one image if BatchNorm then has one value a
 * channel, for one value has no variance. A pure function. */
#ifndef DDP_CORE_BATCHNORM_CHECK_H
#define DDP_CORE_BATCHNORM_CHECK_H

#include "core/batch.h"

/* Refuse a run whose mini-batches have one image, where BatchNorm has one value a channel. Always
 * returns DDP_ERR_USAGE. The text has the nearest fewer subdivisions, larger batch and fewer ranks
 * that give two images or more, each with the others unchanged; what cannot help is left out.
 *
 *   exact        1 if -ddp_exact's rules hold too
 *   layer, kind  the BatchNorm layer's index and type */
ddp_status ddp_batchnorm_refuse_one_value(const ddp_exact_run *run, int exact, int layer,
                                          const char *kind, ddp_error *err);

#endif
