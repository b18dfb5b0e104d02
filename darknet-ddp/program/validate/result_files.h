/* validate/result_files.h: writes detections to files as Darknet's `detector valid` does. */
#ifndef DDP_VALIDATE_RESULT_FILES_H
#define DDP_VALIDATE_RESULT_FILES_H

#include "base/status.h"
#include "eval/detections.h"

#include <stdio.h>

typedef struct ddp_results_config {
    const char *folder; /* folder of the files; made if missing, but not its parent */
    const char *format; /* eval= of the .data file: "coco" or "imagenet"; any other is VOC */
    const char *name;   /* name of the file, or beginning of a class's; NULL: Darknet's own */
    char *const *names; /* names of the classes; NULL is allowed unless VOC's files are written */
    int classes;
    char *const *paths; /* paths of the pictures */
    size_t path_count;
} ddp_results_config;

/* Check whether results can be written, and make the folder. Call before the detector runs for
 * them. Fails with DDP_ERR_USAGE if the format does not fit the classes, or a file is there that is
 * no earlier result of that format; with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_results_check(const ddp_results_config *config, ddp_error *err) DDP_MUST_CHECK;

/* Write found[0..count), whose boxes are fractions of their picture, sorted by ddp_sort_detections.
 * Call after ddp_results_check. VOC: a file a class, "PICTURE SCORE LEFT TOP RIGHT BOTTOM" a line,
 * pixels from 1. COCO: JSON. ImageNet: "NUMBER CLASS SCORE LEFT TOP RIGHT BOTTOM" a line, pixels
 * from 0. NUMBER, of the picture, and CLASS count from 1. written[0..size) becomes the path of the
 * file, or of all of them with * for the class. Fails with DDP_ERR_IO, DDP_ERR_NOMEM; the files are
 * not whole then. */
ddp_status ddp_results_write(const ddp_results_config *config, const ddp_detection *found,
                             size_t count, char *written, size_t size,
                             ddp_error *err) DDP_MUST_CHECK;

enum { DDP_COCO_CLASSES = 80 };

/* Write one detection, of a class below DDP_COCO_CLASSES, as an element of COCO's results.
 *   follows        1: an element stands before it
 *   path, number   of the picture. Its image_id is the number in the path; if there is none, or
 *                  path is NULL, it is number + 1. number counts from 0
 *   width, height  of the picture, in pixels; d->box is in fractions of it */
void ddp_results_put_coco(FILE *file, int follows, const char *path, size_t number, int width,
                          int height, const ddp_detection *d);

#endif
