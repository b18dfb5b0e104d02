/* import/prepare.h: compares annotations with the picture files, and drops what cannot be trained
 * on:
 *
 *  - Boxes are cut at the picture's border. A box without area is dropped.
 *  - If Exif swaps a picture's sides, and the source has them unswapped, its boxes are turned, too.
 *  - A picture that cannot be loaded, or is of a test set, is left out: it loses its path.
 *  - Pictures with the same path become one. */
#ifndef DDP_IMPORT_PREPARE_H
#define DDP_IMPORT_PREPARE_H

#include "import/annotations.h"

/* Make the annotations fit for training, as listed above, and count in a->odd what is odd. Sorts
 * pictures by path, and boxes by picture. Without memory, sets a->lost.
 *   left   oddities (bits 1 << ddp_oddity) whose boxes or pictures are dropped, too */
void ddp_annotations_prepare(ddp_annotations *a, unsigned left);

#endif
