/* import/prepare.h: annotations held against the picture files that they are of. */
#ifndef DDP_IMPORT_PREPARE_H
#define DDP_IMPORT_PREPARE_H

#include "import/annotations.h"

/* Look at each picture file, and make the boxes fit to it. Boxes of a picture that Exif data turn,
 * and the source does not, are turned. Boxes that reach beyond their picture are cut, and those
 * without an area are dropped. Pictures that cannot be loaded, of a test set, or of a kind in
 * `left` lose their path, and so are left out. Pictures with one path become one. Boxes come in the
 * order of their pictures, and pictures in that of their paths. Each of these is counted in a->odd.
 * left: a bit for each kind that the user leaves out, 1 << DDP_ODD_ID. */
void ddp_annotations_prepare(ddp_annotations *a, unsigned left);

#endif
