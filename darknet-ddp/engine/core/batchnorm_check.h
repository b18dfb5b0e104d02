/* core/batchnorm_check.h: the error for mini-batches that are too small for BatchNorm. If BatchNorm
 * has one value in each channel, that value has no variance. A pure function. */
#ifndef DDP_CORE_BATCHNORM_CHECK_H
#define DDP_CORE_BATCHNORM_CHECK_H

#include "core/batch.h"

/* Fail with DDP_ERR_USAGE, always: call it if mini-batches have one image, and a BatchNorm layer
 * then has one value in each channel. The text advises fewer subdivisions, a larger batch or fewer
 * ranks. For each it has the nearest value that gives two images or more without the others; advice
 * that cannot help is left out.
 *
 *   exact        1: advise only values that also pass ddp_exact_check; 0: any
 *   layer, kind  index and type of the BatchNorm layer */
ddp_status ddp_batchnorm_refuse_one_value(const ddp_exact_run *run, int exact, int layer,
                                          const char *kind, ddp_error *err);

#endif
