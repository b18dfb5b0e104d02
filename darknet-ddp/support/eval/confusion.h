/* eval/confusion.h: the confusion matrix of a detector: as which class it found objects of which
 * class.
 *
 * In each picture, each detection takes the truth that overlaps it most: of any class, by an IoU of
 * at least 0.5, and not taken yet. The detection with the highest score takes first. */
#ifndef DDP_EVAL_CONFUSION_H
#define DDP_EVAL_CONFUSION_H

#include "base/status.h"
#include "eval/detections.h"

/* Set counts, a matrix of classes + 1 rows and columns: row r, column c is how often an object of
 * class r was found as class c. The last row counts detections without an object, the last column
 * objects without a detection.
 *   least_score   detections with a lower score do not count
 * Boxes whose class is not from 0 to classes - 1 do not count. Detections and truths may be in any
 * order. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_confusion_of(double *counts, int classes, double least_score,
                            const ddp_detection *detections, size_t detection_count,
                            const ddp_truth *truths, size_t truth_count,
                            ddp_error *err) DDP_MUST_CHECK;

#endif
