/* import/prepare.h: makes annotations fit to the picture files that they are of. */
#ifndef DDP_IMPORT_PREPARE_H
#define DDP_IMPORT_PREPARE_H

#include "import/annotations.h"

/* Look at each picture file, make the boxes fit to it, and count in a->odd what is odd. If Exif
 * data exchange a picture's sides, and the source's size is that of the picture as it is stored,
 * the picture's boxes are turned. Boxes that reach beyond their picture are cut. Boxes without an
 * area, or of a kind in `left`, are dropped. Pictures lose their path, and so are left out, if they
 * cannot be loaded, or are of a test set or of a kind in `left`. Pictures with one path become one.
 * Then pictures stand in the order of their paths, and boxes in that of their pictures. Without
 * memory it only sets a->lost. left: 1 << kind for each ddp_oddity that the user leaves out. */
void ddp_annotations_prepare(ddp_annotations *a, unsigned left);

#endif
