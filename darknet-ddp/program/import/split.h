/* import/split.h: decides which pictures are trained on, and which are kept for validation. */
#ifndef DDP_IMPORT_SPLIT_H
#define DDP_IMPORT_SPLIT_H

#include "import/annotations.h"

/* Choose the pictures for validation: set the `side` of each that has a path to TRAIN or VALID.
 *  - percent from 0 to 100: about so many of a hundred become VALID. File names alone decide, so
 *    sides stay when pictures come or go. But if percent > 0, at least one of several is VALID.
 *  - percent below 0: pictures keep the sides of their source; those without one become TRAIN. But
 *    if no picture is of TRAIN, or none of VALID, percent counts as 10. */
void ddp_split(ddp_annotations *a, double percent);

#endif
