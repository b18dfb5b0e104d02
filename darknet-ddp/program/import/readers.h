/* import/readers.h: readers of annotation formats, a file each. */
#ifndef DDP_IMPORT_READERS_H
#define DDP_IMPORT_READERS_H

#include "base/status.h"
#include "import/annotations.h"

/* Where to read from. */
typedef struct ddp_import_source {
    const char *path;     /* a file or a folder */
    const char *pictures; /* folder of the pictures; NULL: beside the annotations. Unused by
                             ddp_yolo_read: the .yaml file names the folder */
} ddp_import_source;

/* Add the classes, pictures and boxes of a source to *a, and count what is odd in it. An entry that
 * cannot be read is left out and counted. Without memory it may return DDP_OK with a->lost set.
 * Fails with DDP_ERR_IO if the source cannot be read, and with DDP_ERR_NOMEM. DDP_ERR_FORMAT: the
 * file that was named is not of this format, or the folder has none of it. DDP_ERR_USAGE: the
 * program was built without the format's library, or the source must be named otherwise. */
typedef ddp_status ddp_import_reader(ddp_annotations *a, const ddp_import_source *source,
                                     ddp_error *err) DDP_MUST_CHECK;

/* Read COCO's JSON (with jansson). Of a folder's .json files, those without lists "images" and
 * "annotations", or that cannot be read, are passed over. A file's path says the side of its
 * pictures (ddp_folder_side). */
ddp_import_reader ddp_coco_read;

/* Read a folder of Pascal VOC's XML, a file for each picture (with expat). Files that cannot be
 * read are counted. train.txt, val.txt and test.txt of ImageSets/Main say the sides; without any of
 * them, paths do. Boxes are from xmin to xmax and ymin to ymax, as labelImg writes them. */
ddp_import_reader ddp_voc_read;

/* Read Ultralytics' data.yaml (with libyaml), or that of a folder which has one .yaml or .yml file:
 * boxes, or outlines, in a label file for each picture. */
ddp_import_reader ddp_yolo_read;

#endif
