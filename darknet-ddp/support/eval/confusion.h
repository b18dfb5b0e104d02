/* eval/confusion.h: which class is taken for which.
 *
 * In each picture the detections of at least a score, the best first, take the truth of any class
 * that overlaps them most, by at least an IoU of 0.5, and that no better one has taken. */
#ifndef DDP_EVAL_CONFUSION_H
#define DDP_EVAL_CONFUSION_H

#include "base/status.h"
#include "eval/detections.h"

/* counts[(classes + 1) * is + found]: how often what is of class `is` was found as `found`;
 * `classes` stands for nothing: in the last row for what is not there, in the last column for what
 * was not found. The arrays may be in any order and stay as they are; classes outside 0..classes
 * are passed over. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_confusion_of(double *counts, int classes, double score,
                            const ddp_detection *detections, size_t detection_count,
                            const ddp_truth *truths, size_t truth_count,
                            ddp_error *err) DDP_MUST_CHECK;

#endif
