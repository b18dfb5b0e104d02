/* report/data_report.h: writes a page (HTML) that shows what is in training data, for `darknet ddp
 * check -report`. */
#ifndef DDP_REPORT_DATA_REPORT_H
#define DDP_REPORT_DATA_REPORT_H

#include "check/label.h"
#include "check/near_pictures.h"
#include "inputs/scan_data.h"

#include <stdio.h>

/* A picture of the list train= or valid=. A near picture is one with a likeness of 0.99 or more. */
typedef struct ddp_report_picture {
    const char *path;
    int is_valid; /* 1: the list is valid=; 0: train= */
    int is_read;  /* 1: the picture could be decoded */
    /* boxes without fault; for a classifier the whole picture, for each class in its path */
    ddp_label_box *boxes;
    size_t box_count;
    /* like: the nearest picture before it in ddp_data_report.pictures, of its own list; trained:
     * for valid=, the nearest of train=. Each is 1 + an index in pictures; 0: none is near */
    uint32_t like, trained;
    double like_by, trained_by; /* likeness to `like` and `trained`, 0.99 to 1; 0: none is near */
} ddp_report_picture;

typedef struct ddp_data_report {
    const ddp_scan_data *data;
    /* side of a cell of the cfg's finest head, in pixels; 0: not known. The caller sets it after
     * ddp_data_report_read */
    int cell;
    /* train='s pictures, then valid='s; those of a list are sorted by path, each path once */
    ddp_report_picture *pictures;
    ddp_signature *signatures; /* signatures[i]: that of pictures[i]; zeros: not read */
    size_t count;
} ddp_data_report;

/* Read the labels and decode the pictures of data, and find which pictures are near each other.
 * data must outlive *r. Release *r in any case. Fails with DDP_ERR_NOMEM.
 *   threads   number of threads, at least 1; more than 64 count as 64 */
ddp_status ddp_data_report_read(ddp_data_report *r, const ddp_scan_data *data, int threads,
                                ddp_error *err) DDP_MUST_CHECK;

/* Write the page to out; ferror(out) tells whether all of it could be written. */
void ddp_data_report_put(FILE *out, const ddp_data_report *r);

void ddp_data_report_release(ddp_data_report *r); /* frees what *r holds, makes it all zero */

#endif
