/* import/write.h: writes annotations as a folder from which Darknet trains: pictures, labels,
 * lists, names and a .data file. */
#ifndef DDP_IMPORT_WRITE_H
#define DDP_IMPORT_WRITE_H

#include "base/status.h"
#include "import/annotations.h"

typedef struct ddp_import_written {
    char *data;          /* path of the .data file, which the caller frees, also after a failure */
    size_t train, valid; /* number of pictures on each list */
} ddp_import_written;

/* Write the annotations *a, prepared and split, to the folder, which is made. Fails with
 * DDP_ERR_USAGE if it exists and is not empty, or if its path would have Darknet look for labels
 * elsewhere. Fails also with DDP_ERR_IO, DDP_ERR_NOMEM.
 *
 *   images/   symbolic links to the pictures; copies of them if `copies` is 1. Names that two
 *             pictures share get the names of their folders
 *   labels/   a label file for each picture, also for one without boxes
 *   sources/  a file for each label file. Each line has the origin of that label: the path of the
 *             annotation file, a tab, and the object in it
 *   lists     the pictures' paths, which begin with `folder` */
ddp_status ddp_import_write(const ddp_annotations *a, const char *folder, int copies,
                            ddp_import_written *written, ddp_error *err) DDP_MUST_CHECK;

#endif
