/* import/split.h: which pictures are trained on, and which are kept for validation. */
#ifndef DDP_IMPORT_SPLIT_H
#define DDP_IMPORT_SPLIT_H

#include "import/annotations.h"

/* Set the side of each picture that has a path to TRAIN or VALID. With percent < 0 the sides stay
 * that the source says, if it has pictures of both, and those without one are trained on; else 10
 * percent are kept for validation. A picture's side depends on its file's name alone, so that it
 * stays when others come or go. At least one of several pictures is kept, if percent is not 0. */
void ddp_split(ddp_annotations *a, double percent);

#endif
