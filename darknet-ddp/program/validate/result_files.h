/* validate/result_files.h: writes detections to files, in the formats of Darknet's
 * `detector valid`:
 *
 *   VOC       a file for each class with lines "PICTURE SCORE LEFT TOP RIGHT BOTTOM", pixels from 1
 *   COCO      JSON
 *   ImageNet  lines "NUMBER CLASS SCORE LEFT TOP RIGHT BOTTOM", pixels from 0; the picture's NUMBER
 *             and CLASS count from 1 */
#ifndef DDP_VALIDATE_RESULT_FILES_H
#define DDP_VALIDATE_RESULT_FILES_H

#include "base/status.h"
#include "eval/detections.h"

#include <stdio.h>

typedef struct ddp_results_config {
    const char *folder; /* folder of the files */
    const char *format; /* eval= of the .data file: "coco", "imagenet", or else VOC's */
    /* name of the file without .json or .txt; VOC's files add the class. NULL: Darknet's name */
    const char *name;
    char *const *names; /* names of the classes; NULL: not known, which VOC does not allow */
    int classes;
    char *const *paths; /* paths of the pictures */
    size_t path_count;
} ddp_results_config;

/* Make the folder, if its parent exists, and check the files there that results would replace. Call
 * after ddp_overwrite_check, before the detector runs. Fails with DDP_ERR_USAGE if the format does
 * not fit the classes, or if this command reads such a file. Fails so, too, if one is neither empty
 * nor an earlier result of that format. Fails also with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_results_check(const ddp_results_config *config, ddp_error *err) DDP_MUST_CHECK;

/* Write found[0..count), sorted by ddp_sort_detections. Call after ddp_results_check. Sets
 * written[0..size) to the path of the file, or of VOC's files with * for the class. Fails with
 * DDP_ERR_IO (also for a picture that cannot be read), DDP_ERR_NOMEM; files are then not whole. */
ddp_status ddp_results_write(const ddp_results_config *config, const ddp_detection *found,
                             size_t count, char *written, size_t size,
                             ddp_error *err) DDP_MUST_CHECK;

enum { DDP_COCO_CLASSES = 80 };

/* Write one detection, of a class below DDP_COCO_CLASSES, as an element of COCO's list of results.
 *   follows        1: another element comes before it in the list
 *   path           path of the picture. Its image_id is the number behind the last _ of the file's
 *                  name, or at the name's beginning if that has no _
 *   number         index of the picture, from 0. If path is NULL or has no such number, image_id is
 *                  number + 1
 *   width, height  pixels of the picture */
void ddp_results_put_coco(FILE *file, int follows, const char *path, size_t number, int width,
                          int height, const ddp_detection *d);

#endif
