/* validate/schedule.h: validation while training: when, on what, and what follows from the figures.
 * The pictures are those of valid= in the .data file. Every rank takes part, and all know the
 * result. */
#ifndef DDP_VALIDATE_SCHEDULE_H
#define DDP_VALIDATE_SCHEDULE_H

#include "base/status.h"
#include "comm/group.h"
#include "glue/train_position.h"
#include "glue/validate.h"
#include "inputs/same_data.h"
#include "options/options.h"

typedef struct ddp_validation ddp_validation;

/* The figures of a validation. */
typedef struct ddp_validation_result {
    int is_classifier;
    ddp_precision all; /* figures of a detector */
    const ddp_precision *each;
    char *const *names; /* names of the classes; NULL: names= has too few */
    size_t name_count;  /* names in names=; 0: there is no names= */
    int classes;
    ddp_accuracy accuracy; /* figures of a classifier */
    int top;               /* k of its top-k */
    size_t unreadable;     /* pictures left out since they or their labels cannot be read */
    double key;            /* figure by which the best weights are chosen */
    double seconds;
} ddp_validation_result;

/* Read the .data file `data` and its lists. command: "detector" or "classifier". *out is NULL if
 * nothing is to be validated: another command, no valid=, or -ddp_validate 0. options and group
 * must outlive *out. Fails with DDP_ERR_IO, DDP_ERR_FORMAT, DDP_ERR_USAGE (an option wants valid=,
 * or does not fit the command), DDP_ERR_NOMEM. */
ddp_status ddp_validation_open(ddp_validation **out, const ddp_options *options, ddp_group *group,
                               const char *command, const char *data,
                               ddp_error *err) DDP_MUST_CHECK;
void ddp_validation_close(ddp_validation *v); /* NULL is allowed */

enum { DDP_VALIDATION_LIST = 64 };

/* Write what is validated on: how many pictures, and a hash of their paths. */
void ddp_validation_list(const ddp_validation *v, char text[DDP_VALIDATION_LIST]);

/* Write a hash of what figures depend on, wherever it lies and in whatever order: the pictures'
 * names, their labels or classes. Writes -points and -best, too, where they are not the usual ones.
 * Reads all labels. */
void ddp_validation_contents(const ddp_validation *v, char text[DDP_VALIDATION_LIST]);

/* Check that all ranks validate on the same pictures, with the same files of truth. v may be NULL.
 * Blocks. DDP_ERR_MISMATCH names what differs; else fails as ddp_same_data_agree. */
ddp_status ddp_validation_agree(const ddp_validation *v, ddp_truth_files truth,
                                ddp_error *err) DDP_MUST_CHECK;

/* Check that a detector's pictures have labels to compare with. v may be NULL. Rank 0 prints a line
 * if all label files are empty. A label file that is there now, and is gone in a validation, counts
 * as one that cannot be read. Fails with DDP_ERR_FORMAT: no picture has a label file, or, with
 * -labels_required, one picture has none. */
ddp_status ddp_validation_find_labels(ddp_validation *v, ddp_error *err) DDP_MUST_CHECK;

/* Decide when to validate; rank 0 prints it. Without -ddp_validate K, each epoch ends with a
 * validation. If epochs are short, only each second, third and so on does, with at least 100 steps
 * in between. So a run of few pictures does not spend its time on validating and saving. It depends
 * on steps alone, never on a clock: the same run validates at the same steps anywhere.
 *   lines          of the training list
 *   batch          images of a step
 *   width, height  of the cfg, at which pictures are validated */
void ddp_validation_begin(ddp_validation *v, size_t lines, size_t batch, int width, int height);

/* Return 1 if a validation is due after this step. v NULL: never. */
int ddp_validation_due(const ddp_validation *v, const ddp_train_position *now);

/* Check a detector before it is measured, as ddp_validate_check_detector does. */
ddp_status ddp_validation_check_detector(const ddp_validation *v, const network *net,
                                         ddp_error *err) DDP_MUST_CHECK;

/* Validate net. listener: as of ddp_validate_detector; NULL: none. Blocks until every rank is here.
 * Fails as ddp_validate_detector. Fails on every rank with DDP_ERR_FORMAT: more pictures or their
 * labels cannot be read than -ddp_on_bad_data skips, or none can. */
ddp_status ddp_validation_measure(ddp_validation *v, network *net,
                                  const ddp_validation_listener *listener,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Compare the figures of ddp_validation_measure with the best so far, on all ranks; rank 0 prints
 * them. Returns 1 if they are the best. *stop: the number of validations since the best, if
 * -patience ends the run and batches are left; else 0. */
int ddp_validation_judge(ddp_validation *v, const ddp_train_position *now, int *stop);

/* Print a line on standard output that counts pictures that cannot be read, and one that counts
 * boxes that are not finite, if there were any. */
void ddp_validation_say_left_out(const ddp_validation_result *r);

/* Return the paths of the pictures, *count of them, in the order of the list. */
char *const *ddp_validation_pictures(const ddp_validation *v, size_t *count);

/* Return the fields of the result that are known before the first validation: is_classifier, names,
 * classes. NULL if v is NULL. */
const ddp_validation_result *ddp_validation_kind(const ddp_validation *v);

/* Return a value of the .data file, or NULL. */
const char *ddp_validation_key(const ddp_validation *v, const char *key);

/* Note an earlier validation of a run that goes on, on rank 0. Call for each, in their order. */
void ddp_validation_recall(ddp_validation *v, size_t step, double key);

/* Compare later figures with those of `step`, whose weights are the best on the disk (0: there are
 * none), on rank 0. Returns 0, and changes nothing, if that is so already, or the step has no
 * figure. */
int ddp_validation_go_back(ddp_validation *v, size_t step);

/* Give all ranks what rank 0 knows of the best. v may be NULL. Fails with DDP_ERR_COMM. */
ddp_status ddp_validation_share(ddp_validation *v, ddp_error *err) DDP_MUST_CHECK;

/* Return the figures of the last validation; NULL: there was none. */
const ddp_validation_result *ddp_validation_last(const ddp_validation *v);

/* Get the best figure so far, its step, and its name, "mAP@0.5:0.95". Returns 0 if there is
 * none. */
int ddp_validation_best(const ddp_validation *v, const char **name, double *figure, size_t *step);

#endif
