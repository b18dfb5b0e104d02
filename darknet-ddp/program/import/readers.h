/* import/readers.h: readers of annotation formats, a file each. */
#ifndef DDP_IMPORT_READERS_H
#define DDP_IMPORT_READERS_H

#include "base/status.h"
#include "import/annotations.h"

/* Where to read from. */
typedef struct ddp_import_source {
    const char *path;     /* a file or a folder */
    const char *pictures; /* the folder of the pictures; NULL: beside the annotations */
} ddp_import_source;

/* Add the classes, pictures and boxes of a source to *a, and count what is odd in it. An entry that
 * cannot be read is left out and counted. Fails with DDP_ERR_IO if a file cannot be read, and with
 * DDP_ERR_NOMEM. Fails with DDP_ERR_FORMAT if a file is none of this format, or the source has no
 * annotations. Fails with DDP_ERR_USAGE if this program was built without the format's library. */
typedef ddp_status ddp_import_reader(ddp_annotations *a, const ddp_import_source *source,
                                     ddp_error *err) DDP_MUST_CHECK;

/* COCO's JSON (with jansson). A folder's files are those with "images" and "annotations" in them.
 * A file whose path says train, val or test has pictures of that side. */
ddp_import_reader ddp_coco_read;

/* Pascal VOC's XML, a file for each picture (with expat). ImageSets/Main/train.txt and val.txt say
 * the sides, where they are. Boxes are from xmin to xmax and ymin to ymax, as labelImg writes
 * them. */
ddp_import_reader ddp_voc_read;

/* Ultralytics' data.yaml (with libyaml): boxes, or outlines, in a label file for each picture. */
ddp_import_reader ddp_yolo_read;

#endif
