/* import/split.h: decides which pictures are trained on, and which are kept for validation. */
#ifndef DDP_IMPORT_SPLIT_H
#define DDP_IMPORT_SPLIT_H

#include "import/annotations.h"

/* Set the side of each picture that has a path to TRAIN or VALID, so that about `percent` (0 to
 * 100) are kept for validation. A side depends on the file's name, without its ending, alone, so
 * that it stays when others come or go. But at least one of several is kept, if percent is not 0.
 * With percent < 0 sides of the source stay, if it has pictures of both; those of no side are
 * trained on then. If it has not, 10 percent are kept. */
void ddp_split(ddp_annotations *a, double percent);

#endif
