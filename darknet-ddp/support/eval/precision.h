/* eval/precision.h: average precision as COCO's evaluation defines it, and precision and recall at
 * one score threshold.
 *
 * At an IoU threshold t, each detection takes the free truth of its class and picture that overlaps
 * it most, if by t or more, and is then a hit. Detections with higher scores take first. Of each
 * picture and class the 100 best detections count. Average precision is the mean, over equally
 * spaced recalls from 0 to 1, of the best precision at that recall or beyond. Source: Lin et al.
 * 2014 and the COCO API's evaluation code, which gives the same numbers with DDP_RECALLS_COCO. */
#ifndef DDP_EVAL_PRECISION_H
#define DDP_EVAL_PRECISION_H

#include "base/status.h"
#include "eval/detections.h"

enum {
    DDP_RECALLS_COCO = 101,  /* how many recalls COCO averages over: 0, 0.01, ... 1 */
    DDP_RECALLS_VOC2007 = 11 /* how many recalls VOC 2007 averages over: 0, 0.1, ... 1 */
};

/* Results of one class, or of all classes together. */
typedef struct ddp_precision {
    size_t truths;     /* boxes of labels */
    size_t detections; /* boxes that the caller passed, at any score; not only the 100 best */
    size_t left_out;   /* set by the caller: boxes of all classes that it left out as not finite */
    /* average precision, mean over ten IoU thresholds (AP@0.5:0.95); -1: the class has no truth */
    double ap;
    double ap50, ap75; /* average precision at an IoU of 0.5, and of 0.75; -1: no truth */

    /* Counts of detections of at least the score threshold, at IoU 0.5: */
    size_t hits;            /* true positives */
    size_t false_positives; /* detections that are no hits */
    double precision;       /* hits / (hits + false_positives); 0 without detections */
    double recall;          /* hits / truths; 0 without truths */
    /* mean IoU of these detections with their truths, where a false positive counts as 0; 0 without
     * detections */
    double mean_iou;
} ddp_precision;

typedef struct ddp_precision_config {
    int classes;
    int recalls;  /* DDP_RECALLS_COCO or DDP_RECALLS_VOC2007 */
    double score; /* score threshold of hits, precision, recall and mean_iou, 0 to 1 */
} ddp_precision_config;

/* Evaluate detections against truths. Sorts both in place. Boxes whose class is not from 0 to
 * classes - 1 do not count. In all results left_out is 0.
 *   each[0..classes)  results of the classes
 *   *all              means of ap, ap50, ap75 over classes with truths (-1: there are none); all
 *                     other figures are those of all classes' boxes together
 * Fails with DDP_ERR_USAGE (classes < 1, recalls < 2), DDP_ERR_NOMEM. */
ddp_status ddp_precision_of(ddp_precision *all, ddp_precision *each,
                            const ddp_precision_config *config, ddp_detection *detections,
                            size_t detection_count, ddp_truth *truths, size_t truth_count,
                            ddp_error *err) DDP_MUST_CHECK;

#endif
