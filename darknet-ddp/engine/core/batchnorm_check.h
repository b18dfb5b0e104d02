/* core/batchnorm_check.h: the error for mini-batches that are too small for BatchNorm. If BatchNorm
 * has one value in each channel, that value has no variance. A pure function. */
#ifndef DDP_CORE_BATCHNORM_CHECK_H
#define DDP_CORE_BATCHNORM_CHECK_H

#include "core/batch.h"

/* Write the error for a run whose mini-batches have one image, if a BatchNorm layer then has one
 * value in each channel. Always returns DDP_ERR_USAGE. The text advises fewer subdivisions, a
 * larger batch or fewer ranks. Each is the nearest value that, by itself, gives two images or more;
 * advice that cannot help is left out.
 *
 *   exact        1: advise only values that also pass ddp_exact_check; 0: any
 *   layer, kind  index and type of the BatchNorm layer */
ddp_status ddp_batchnorm_refuse_one_value(const ddp_exact_run *run, int exact, int layer,
                                          const char *kind, ddp_error *err);

#endif
