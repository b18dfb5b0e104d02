/* import/readers.h: reads annotations in the formats of COCO, Pascal VOC and Ultralytics. */
#ifndef DDP_IMPORT_READERS_H
#define DDP_IMPORT_READERS_H

#include "base/status.h"
#include "import/annotations.h"

/* Where to read from. */
typedef struct ddp_import_source {
    const char *path; /* path of a file or folder with annotations */
    /* folder of the pictures; NULL: beside the annotations. For ddp_yolo_read NULL: its .yaml file
     * names folders */
    const char *pictures;
} ddp_import_source;

/* Add the classes, pictures and boxes of a source to *a, and count what is odd. Leaves out entries
 * that cannot be read. If some are missing for want of memory, sets a->lost.
 * Fails with DDP_ERR_FORMAT: the file is not of this format, or the folder has no such file.
 * Fails with DDP_ERR_USAGE: this build lacks the format's library, or source->path is no file or
 * folder that the reader can take.
 * Fails also with DDP_ERR_IO, DDP_ERR_NOMEM. */
typedef ddp_status ddp_import_reader(ddp_annotations *a, const ddp_import_source *source,
                                     ddp_error *err) DDP_MUST_CHECK;

/* Read COCO's JSON (with jansson): a file, or the .json files of a folder that have the lists
 * "images" and "annotations". A file's path says the side of its pictures: training, validation or
 * test (ddp_folder_side). */
ddp_import_reader ddp_coco_read;

/* Read a folder (not a file) of Pascal VOC's XML files (with expat), one for each picture. Lists
 * train.txt, val.txt, test.txt in ImageSets/Main say which pictures are for what, or else paths do.
 * Boxes reach from xmin to xmax and ymin to ymax, as labelImg writes them. */
ddp_import_reader ddp_voc_read;

/* Read Ultralytics' data.yaml (with libyaml), or the .yaml or .yml file of a folder that has only
 * one. A picture's label file has its boxes or outlines; without the file it has none. */
ddp_import_reader ddp_yolo_read;

#endif
