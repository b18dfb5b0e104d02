/* import/split.h: decides which pictures are trained on, and which are kept for validation. */
#ifndef DDP_IMPORT_SPLIT_H
#define DDP_IMPORT_SPLIT_H

#include "import/annotations.h"

/* Set the side of each picture that has a path to TRAIN or VALID. About `percent` (0 to 100) of
 * them become VALID; at least one, unless percent is 0 or there is one picture. The side depends on
 * the picture's file name alone, so it stays when other pictures come or go.
 *
 * With percent < 0 pictures keep the sides of their source, and those without a side become TRAIN.
 * If the source does not have both sides, percent is 10. */
void ddp_split(ddp_annotations *a, double percent);

#endif
