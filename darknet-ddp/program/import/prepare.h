/* import/prepare.h: compares annotations with the picture files, and drops what cannot be trained
 * on. */
#ifndef DDP_IMPORT_PREPARE_H
#define DDP_IMPORT_PREPARE_H

#include "import/annotations.h"

/* Make the annotations fit for training, and count in a->odd what is odd:
 * - Boxes are cut at the picture's border, and dropped if no area is left.
 * - Boxes are turned with a picture that viewers turn (Exif), if the source did not turn them.
 * - Pictures that cannot be loaded, or are of a test set, lose their path, and so are left out.
 * - Pictures with the same path become one.
 * - Boxes and pictures with an oddity in `left` (bits 1 << ddp_oddity) are dropped, too.
 * Afterwards pictures are sorted by path, and boxes by picture. Without memory, it only sets
 * a->lost. */
void ddp_annotations_prepare(ddp_annotations *a, unsigned left);

#endif
