/* import/write.h: writes a folder from which Darknet trains: pictures, labels, lists, names, .data.
 */
#ifndef DDP_IMPORT_WRITE_H
#define DDP_IMPORT_WRITE_H

#include "base/status.h"
#include "import/annotations.h"

typedef struct ddp_import_written {
    char *data; /* path of the .data file; the caller frees it, also after a failure; NULL: none */
    size_t train, valid; /* number of pictures on each list */
} ddp_import_written;

/* Write the prepared and split annotations *a into the folder, which is made. Pictures are linked
 * into images/ by symbolic links or, if copies is 1, copied. Each picture, also one without a box,
 * has a file in labels/. Its file in sources/ has as many lines: the path of an annotation file, a
 * tab, and which of its objects the label is. Two pictures of one name are told apart by their
 * folders' names. Paths in the lists begin as `folder` does. Fails with DDP_ERR_USAGE if the folder
 * is there and not empty, or its path would have Darknet look for labels elsewhere; with
 * DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_import_write(const ddp_annotations *a, const char *folder, int copies,
                            ddp_import_written *written, ddp_error *err) DDP_MUST_CHECK;

#endif
