/* import/write.h: writes annotations as a folder from which Darknet trains:
 *
 *   images/      links to the pictures, or copies. Pictures whose names differ only in the
 *                ending, or not at all, get the names of their folders, too, or numbers
 *   labels/      a label file for each picture, also for one without boxes
 *   sources/     a file for each label file. Each line has the origin of that label: the path of
 *                the annotation file, a tab, and the object in it
 *   train.list, valid.list   paths of the pictures, which begin with the folder's
 *   NAME.names, NAME.data    class names; .data file. NAME: the folder's, "data" for . and ..
 *   backup/      empty, for weights */
#ifndef DDP_IMPORT_WRITE_H
#define DDP_IMPORT_WRITE_H

#include "base/status.h"
#include "import/annotations.h"

typedef struct ddp_import_written {
    char *data; /* path of the .data file; after a failure maybe NULL; the caller frees it */
    size_t train, valid; /* number of pictures on each list */
} ddp_import_written;

/* Write the annotations *a, prepared and split, to `folder`, which is made. images/ gets symbolic
 * links to the pictures; copies of them if `copies` is 1. What a failure leaves in `folder` stays.
 * Fails with DDP_ERR_USAGE: the folder is not empty, or Darknet would look elsewhere for labels.
 * Fails also with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_import_write(const ddp_annotations *a, const char *folder, int copies,
                            ddp_import_written *written, ddp_error *err) DDP_MUST_CHECK;

#endif
