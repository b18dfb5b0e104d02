/* validate/result_files.h: what a detector found, in the files that Darknet's `detector valid`
 * writes. */
#ifndef DDP_VALIDATE_RESULT_FILES_H
#define DDP_VALIDATE_RESULT_FILES_H

#include "base/status.h"
#include "eval/detections.h"

typedef struct ddp_results_config {
    const char *folder; /* is made where its parent is there */
    const char *format; /* eval= of the .data file: "voc", "coco" or "imagenet" */
    const char *name; /* of the file, or how a class's begins; NULL: Darknet's own for the format */
    char *const *names; /* of the classes; NULL is allowed but for voc */
    int classes;
    char *const *paths; /* of the pictures */
} ddp_results_config;

/* Before a detector is run for them: can these results be written? Makes the folder. DDP_ERR_USAGE:
 * the format does not fit the classes, or one of the files is there and no earlier result of that
 * format; DDP_ERR_IO. */
ddp_status ddp_results_check(const ddp_results_config *config, ddp_error *err) DDP_MUST_CHECK;

/* After ddp_results_check: write found[0..count), whose boxes are fractions of their picture,
 * sorted as ddp_sort_detections does. VOC: a file a class, "PICTURE SCORE LEFT TOP RIGHT BOTTOM" a
 * line, pixels from 1. COCO: JSON. ImageNet: "NUMBER CLASS SCORE LEFT TOP RIGHT BOTTOM" a line,
 * pixels from 0. written: the path of the file, or of all of them with * for the class. Fails with
 * DDP_ERR_IO, DDP_ERR_NOMEM; what is there then is not whole. */
ddp_status ddp_results_write(const ddp_results_config *config, const ddp_detection *found,
                             size_t count, char *written, size_t size,
                             ddp_error *err) DDP_MUST_CHECK;

#endif
