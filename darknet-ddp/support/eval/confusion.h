/* eval/confusion.h: the confusion matrix of a detector: as which class it found objects of which
 * class.
 *
 * In each picture, each detection takes the truth that overlaps it most: of any class, by an IoU of
 * at least 0.5, and not taken yet. The detection with the highest score takes first. */
#ifndef DDP_EVAL_CONFUSION_H
#define DDP_EVAL_CONFUSION_H

#include "base/status.h"
#include "eval/detections.h"

/* Set counts[(classes + 1) * is + found] to how often an object of class `is` was found as class
 * `found`. Both run from 0 to classes, which stands for "nothing": the last row counts detections
 * without an object, the last column objects without a detection. Detections with a score below
 * least_score do not count, nor do entries whose class is none. The arrays may be in any order and
 * stay as they are. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_confusion_of(double *counts, int classes, double least_score,
                            const ddp_detection *detections, size_t detection_count,
                            const ddp_truth *truths, size_t truth_count,
                            ddp_error *err) DDP_MUST_CHECK;

#endif
