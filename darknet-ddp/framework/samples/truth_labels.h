/* samples/truth_labels.h: of which label each truth of a sample under way is.
 *
 * A truth is a box that a detector is trained for. It was read from a line of a picture's label
 * file. A sample made of several pictures has truths of all of them. Threads that load samples tell
 * where each truth is from; the training thread asks after the sample is loaded. */
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

/* Make an empty record of `samples` samples, at least 1. Two samples whose numbers differ by
 * `samples` have one entry, so that the later one replaces the other. paths[0..count): the training
 * list, which must outlive the record. *out is NULL on failure. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_truth_labels_open(ddp_truth_labels **out, size_t samples, char *const *paths,
                                 size_t count, ddp_error *err) DDP_MUST_CHECK;
void ddp_truth_labels_close(ddp_truth_labels *t); /* frees t; NULL is allowed */

/* Return the number of the picture at path; SIZE_MAX if it is not in the list. */
size_t ddp_truth_labels_picture(const ddp_truth_labels *t, const char *path);

/* Note that truth n (from 0) of a sample is this line of the labels of the picture at path. Any
 * thread, one at a time for each sample. Without memory nothing is noted. */
void ddp_truth_labels_set(ddp_truth_labels *t, size_t sample, int n, const char *path, int line);

/* Set *label to the label of truth n of a sample, and return 1; 0 if it is not known. Call after
 * the sample is loaded. */
int ddp_truth_labels_find(const ddp_truth_labels *t, size_t sample, int n, ddp_label_id *label);

#endif
