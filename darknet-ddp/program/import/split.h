/* import/split.h: decides which pictures are trained on, and which are kept for validation. */
#ifndef DDP_IMPORT_SPLIT_H
#define DDP_IMPORT_SPLIT_H

#include "import/annotations.h"

/* Set the side of each picture that has a path to TRAIN or VALID. Its file name alone decides, so
 * the side stays when other pictures come or go.
 *   percent   0 to 100: about so many pictures of a hundred become VALID, but at least one, unless
 *             percent is 0 or there is one picture
 *             below 0: pictures keep the sides of their source, and those without one become TRAIN.
 *             But if the source lacks TRAIN or VALID, counts as 10 */
void ddp_split(ddp_annotations *a, double percent);

#endif
