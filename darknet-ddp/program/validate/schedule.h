/* validate/schedule.h: validates during training, on the pictures of valid= in the .data file.
 * Decides after which steps to validate, which result is best, and whether -patience ends the run.
 * Every rank takes part in a validation, and all get the result. */
#ifndef DDP_VALIDATE_SCHEDULE_H
#define DDP_VALIDATE_SCHEDULE_H

#include "base/status.h"
#include "comm/group.h"
#include "glue/train_position.h"
#include "glue/validate.h"
#include "inputs/same_data.h"
#include "options/options.h"

typedef struct ddp_validation ddp_validation;

/* The result of a validation. */
typedef struct ddp_validation_result {
    int is_classifier;         /* 1: a classifier's; 0: a detector's */
    ddp_precision all;         /* a detector's AP, precision and recall, over all classes */
    const ddp_precision *each; /* each[i]: AP, precision and recall of a detector's class i */
    char *const *names;        /* names of the classes; NULL: names= has too few */
    size_t name_count;         /* number of names in names= or labels=; 0: there is neither */
    int classes;
    ddp_accuracy accuracy; /* a classifier's accuracy */
    int top;               /* a classifier's k of top-k */
    size_t unreadable;     /* pictures left out because they or their labels cannot be read */
    double key;            /* figure by which the best weights are chosen, such as mAP */
    double seconds;        /* how long the validation took */
} ddp_validation_result;

/* Open the validation of a run. *out becomes NULL if there is none: -ddp_validate is 0, the .data
 * file `data` has no valid=, or `command` is not "detector" or "classifier". The options and the
 * group must outlive *out.
 * Fails with DDP_ERR_USAGE: an option does not fit the command, or needs a validation.
 * Fails also with DDP_ERR_IO, DDP_ERR_FORMAT, DDP_ERR_NOMEM. A bad map= ends the program. */
ddp_status ddp_validation_open(ddp_validation **out, const ddp_options *options, ddp_group *group,
                               const char *command, const char *data,
                               ddp_error *err) DDP_MUST_CHECK;
void ddp_validation_close(ddp_validation *v); /* frees v; NULL is allowed */

enum { DDP_VALIDATION_LIST = 64 };

/* Write to text how many pictures v validates on, and a hash of their paths. */
void ddp_validation_list(const ddp_validation *v, char text[DDP_VALIDATION_LIST]);

/* Write to text what validations must share to be comparable. It has a hash of the pictures' names
 * and their labels or classes, and -points and -best unless they are the defaults. Folders and
 * order do not count. Reads all labels. */
void ddp_validation_contents(const ddp_validation *v, char text[DDP_VALIDATION_LIST]);

/* Fail with DDP_ERR_MISMATCH if ranks list different pictures. Fail so, too, if their files differ,
 * as far as ddp_same_data_agree sees in 10 s. Collective. v may be NULL, then on all ranks. Fails
 * also with DDP_ERR_NOMEM, DDP_ERR_COMM. truth: which kind of files has the labels. */
ddp_status ddp_validation_agree(const ddp_validation *v, ddp_truth_files truth,
                                ddp_error *err) DDP_MUST_CHECK;

/* Note which of a detector's pictures have label files. A label file that is gone later counts as
 * one that cannot be read. Rank 0 prints a line if all label files are empty. Does nothing for a
 * classifier, or if v is NULL. Call on every rank. Fails with DDP_ERR_FORMAT if no picture has a
 * label file or, with -labels_required, if a picture has none. */
ddp_status ddp_validation_find_labels(ddp_validation *v, ddp_error *err) DDP_MUST_CHECK;

/* Decide after which steps to validate; rank 0 prints it. With -ddp_validate K it is every K steps,
 * else every epoch, or every few epochs if these are shorter than 100 steps. The last step is
 * always validated. v may be NULL.
 *   lines          number of lines of the training list; 0: no list, so no epochs
 *   batch          number of images of a step
 *   width, height  the cfg's, in pixels: size at which pictures are validated */
void ddp_validation_plan(ddp_validation *v, size_t lines, size_t batch, int width, int height);

/* Return 1 if a validation is due after step `now`; 0 if not, or if v is NULL. */
int ddp_validation_due(const ddp_validation *v, const ddp_train_position *now);

/* Check that net can be validated as a detector. ddp_validation_measure does so, too. Fails with
 * DDP_ERR_USAGE: net is no detector, has fewer classes than classes=, or more without map=. */
ddp_status ddp_validation_check_detector(const ddp_validation *v, const network *net,
                                         ddp_error *err) DDP_MUST_CHECK;

/* Validate net. ddp_validation_last then returns the result on every rank. Collective.
 *   listener  gets the boxes that were found, and the pictures that cannot be read; NULL: none
 * Fails with DDP_ERR_FORMAT: no picture can be read, or too many cannot (-ddp_on_bad_data).
 * Fails with DDP_ERR_USAGE: net does not fit the classes, or cannot predict in bf16 (-bf16).
 * Fails also with DDP_ERR_NOMEM, DDP_ERR_COMM. After a failure the last result is undefined. */
ddp_status ddp_validation_measure(ddp_validation *v, network *net,
                                  const ddp_validation_listener *listener,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Compare the last result with the best so far. Returns 1 if it is the best, else 0. Rank 0 prints
 * the result. Call once after each ddp_validation_measure, on all ranks.
 *   stop  becomes the number of validations since the best if -patience ends the run before its
 *         last step, else 0 */
int ddp_validation_judge(ddp_validation *v, const ddp_train_position *now, int *stop);

/* Print how many pictures could not be read, and how many boxes were not finite, if any. */
void ddp_validation_say_left_out(const ddp_validation_result *r);

/* Return the *count paths of the pictures, in the list's order. Valid as long as v. */
char *const *ddp_validation_pictures(const ddp_validation *v, size_t *count);

/* Return a result whose members is_classifier, names, name_count, classes and top are set, even
 * before the first validation; v owns it. Returns NULL if v is NULL. */
const ddp_validation_result *ddp_validation_kind(const ddp_validation *v);

/* Return the value of `key` in the .data file; NULL: it has none. Valid as long as v. */
const char *ddp_validation_key(const ddp_validation *v, const char *key);

/* Add a validation that took place after `step`, before the run was resumed. Call on rank 0 for
 * each, in their order. key: member `key` of its result. */
void ddp_validation_add_earlier(ddp_validation *v, size_t step, double key);

/* Make the validation after `step` the best again, because the best weights on the disk are of that
 * step. With step 0 there are no such weights, and no validation is the best. Call on rank 0.
 * Returns 1, or 0 if nothing changed: that validation is the best already or is not known, or there
 * was no best one. */
int ddp_validation_go_back(ddp_validation *v, size_t step);

/* Copy rank 0's best result to all ranks. Call after ddp_validation_add_earlier or _go_back, before
 * _judge. v may be NULL on all ranks. Collective. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_validation_share_best(ddp_validation *v, ddp_error *err) DDP_MUST_CHECK;

/* Return the result of the last validation, which the next one overwrites; NULL: there was none, or
 * v is NULL. */
const ddp_validation_result *ddp_validation_last(const ddp_validation *v);

/* Set *figure to the best figure so far, *step to its step, and *name to what it is, such as
 * "mAP@0.5:0.95" (static). Returns 1; 0 if there is none, or v is NULL. */
int ddp_validation_best(const ddp_validation *v, const char **name, double *figure, size_t *step);

#endif
