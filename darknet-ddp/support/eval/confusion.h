/* eval/confusion.h: which class a detector takes for which.
 *
 * In each picture, detections of at least a score take truths, the best detection first. Each takes
 * the truth, of any class, that overlaps it most, by an IoU of at least 0.5, and that no better
 * detection has taken. */
#ifndef DDP_EVAL_CONFUSION_H
#define DDP_EVAL_CONFUSION_H

#include "base/status.h"
#include "eval/detections.h"

/* Set counts[(classes + 1) * is + found] to how often an object of class `is` was found as `found`;
 * both run from 0 to classes. Index `classes` stands for "nothing": the last row counts what was
 * found and is not there, the last column what was not found. Detections with a score below `score`
 * do not count. The arrays may be in any order and stay as they are. Entries whose class is no
 * class are skipped. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_confusion_of(double *counts, int classes, double score,
                            const ddp_detection *detections, size_t detection_count,
                            const ddp_truth *truths, size_t truth_count,
                            ddp_error *err) DDP_MUST_CHECK;

#endif
