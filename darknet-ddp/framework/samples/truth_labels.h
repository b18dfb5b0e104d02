/* samples/truth_labels.h: remembers from which line of which label file each truth of a loaded
 * sample comes.
 *
 * A truth is a box that a detector is trained for. A sample made of several pictures can have
 * truths of all of them. Loader threads set where truths come from; the training thread looks it up
 * once the sample is loaded. */
#ifndef DDP_SAMPLES_TRUTH_LABELS_H
#define DDP_SAMPLES_TRUTH_LABELS_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ddp_truth_labels ddp_truth_labels;

/* A label: the number of its picture in the training list, from 0, and its line, from 1. A picture
 * that is listed more than once has its first number. */
typedef struct ddp_label_id {
    uint32_t picture, line;
} ddp_label_id;

/* Open an empty record of the last `samples` samples, at least 1: sample number n + samples
 * replaces sample n. paths[0..count): the training list, which must outlive the record. *out is
 * NULL on failure. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_truth_labels_open(ddp_truth_labels **out, size_t samples, char *const *paths,
                                 size_t count, ddp_error *err) DDP_MUST_CHECK;
void ddp_truth_labels_close(ddp_truth_labels *t); /* frees t; NULL is allowed */

/* Return the number (ddp_label_id) of the picture at path; SIZE_MAX: path is not in the list. */
size_t ddp_truth_labels_find_picture(const ddp_truth_labels *t, const char *path);

/* Note that truth n (from 0) of a sample comes from line `line` (from 1) of the label file of the
 * picture at path. Call for a sample's truths in order. Any thread, but one at a time for a sample.
 * If path is not in the list, or there is no memory, notes neither this truth nor the sample's
 * later ones. */
void ddp_truth_labels_set(ddp_truth_labels *t, size_t sample, int n, const char *path, int line);

/* Set *label to the label of truth n of a sample, and return 1; return 0 if it is not known. Call
 * after the sample was loaded. */
int ddp_truth_labels_find(const ddp_truth_labels *t, size_t sample, int n, ddp_label_id *label);

#endif
