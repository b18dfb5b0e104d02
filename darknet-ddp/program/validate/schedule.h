/* validate/schedule.h: validation while training: after which steps, on which pictures, and what
 * follows from the figures. The pictures are those of valid= in the .data file. Every rank takes
 * part in a validation, and all get the result. */
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
    ddp_precision all;         /* AP, precision, recall of a detector, all classes together */
    const ddp_precision *each; /* AP, precision, recall of each of a detector's classes */
    char *const *names;        /* names of the classes; NULL: names= has too few */
    size_t name_count;         /* names in names=; 0: there is no names= */
    int classes;
    ddp_accuracy accuracy; /* accuracy of a classifier */
    int top;               /* a classifier's k of top-k */
    size_t unreadable;     /* pictures left out because they or their labels cannot be read */
    double key;            /* figure by which the best weights are chosen */
    double seconds;        /* how long the validation took */
} ddp_validation_result;

/* Open a validation from the .data file `data` and its lists. command: "detector" or "classifier".
 * *out is NULL if nothing is to be validated: another command, no valid=, or -ddp_validate 0.
 * options and group must outlive *out. Fails with DDP_ERR_IO, DDP_ERR_FORMAT, DDP_ERR_NOMEM,
 * and with DDP_ERR_USAGE if an option does not fit the command, or wants a validation where there
 * is no valid= or -ddp_validate is 0. */
ddp_status ddp_validation_open(ddp_validation **out, const ddp_options *options, ddp_group *group,
                               const char *command, const char *data,
                               ddp_error *err) DDP_MUST_CHECK;
void ddp_validation_close(ddp_validation *v); /* frees v; NULL is allowed */

enum { DDP_VALIDATION_LIST = 64 };

/* Write to text how many pictures v validates on, and a hash of their paths. */
void ddp_validation_list(const ddp_validation *v, char text[DDP_VALIDATION_LIST]);

/* Write to text a hash of what the result depends on: the pictures' names, and their labels or
 * classes. Folders and order do not count. -points and -best count if they are not the usual ones.
 * Reads all labels. */
void ddp_validation_contents(const ddp_validation *v, char text[DDP_VALIDATION_LIST]);

/* Check that all ranks validate on the same pictures, with the same files of truth
 * (inputs/same_data.h). v may be NULL. Collective. Fails with DDP_ERR_MISMATCH, which names what
 * differs, and as ddp_same_data_agree. */
ddp_status ddp_validation_agree(const ddp_validation *v, ddp_truth_files truth,
                                ddp_error *err) DDP_MUST_CHECK;

/* Check that a detector's pictures have labels to compare with. Call on every rank: each notes
 * which of its own pictures have some. v may be NULL. Rank 0 prints a line if all label files are
 * empty. A label file that is there now, and is gone in a validation, counts as one that cannot be
 * read. Fails with DDP_ERR_FORMAT: no picture has a label file, or, with -labels_required, one
 * picture has none. */
ddp_status ddp_validation_find_labels(ddp_validation *v, ddp_error *err) DDP_MUST_CHECK;

/* Decide when to validate; rank 0 prints it. v may be NULL. Without -ddp_validate K, each epoch
 * ends with a validation. If epochs are short, only each second, third and so on does, with at
 * least 100 steps in between. So a run of few pictures does not spend its time on validating and
 * saving. The rule depends on steps alone, never on a clock: the same run validates at the same
 * steps anywhere.
 *   lines          lines of the training list; 0: without -ddp_validate K, the only validation is
 *                  that after the last step
 *   batch          images of a step
 *   width, height  of the cfg, at which pictures are validated */
void ddp_validation_begin(ddp_validation *v, size_t lines, size_t batch, int width, int height);

/* Return 1 if a validation is due after the step that `now` has ended. v may be NULL: 0. */
int ddp_validation_due(const ddp_validation *v, const ddp_train_position *now);

/* Check that net fits the validation of a detector, as ddp_validate_check_detector does. Call
 * before ddp_validation_measure. */
ddp_status ddp_validation_check_detector(const ddp_validation *v, const network *net,
                                         ddp_error *err) DDP_MUST_CHECK;

/* Validate net; ddp_validation_last then has the result on every rank. listener: is told of boxes
 * and of pictures that cannot be read; NULL: nobody is. Blocks until every rank is here. Fails as
 * ddp_validate_detector and, with -ddp_bf16, as ddp_network_check_bf16. Fails on every rank with
 * DDP_ERR_FORMAT if more pictures or labels cannot be read than -ddp_on_bad_data skips, or if none
 * can. */
ddp_status ddp_validation_measure(ddp_validation *v, network *net,
                                  const ddp_validation_listener *listener,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Compare the last result with the best so far, on all ranks; rank 0 prints the result. Returns 1
 * if it is the best. If -patience ends the run and steps are left, *stop becomes the number of
 * validations since the best; else 0. */
int ddp_validation_judge(ddp_validation *v, const ddp_train_position *now, int *stop);

/* Print a line on standard output that counts pictures that cannot be read, and one that counts
 * boxes that are not finite, if there were any. */
void ddp_validation_say_left_out(const ddp_validation_result *r);

/* Return the *count paths of the pictures, in the list's order. They live as long as v. */
char *const *ddp_validation_pictures(const ddp_validation *v, size_t *count);

/* Return the fields of the result that are known before the first validation: is_classifier, names,
 * classes. NULL if v is NULL. */
const ddp_validation_result *ddp_validation_kind(const ddp_validation *v);

/* Return the value of `key` in the .data file, as long as v lives; NULL: it has none. */
const char *ddp_validation_key(const ddp_validation *v, const char *key);

/* Note an earlier validation of a resumed run, after `step`, with the figure `key`. Call on rank 0
 * for each, in their order. */
void ddp_validation_recall(ddp_validation *v, size_t step, double key);

/* Make the figure of `step` the best again, since its weights are the best on the disk (0: there
 * are none). On rank 0. Returns 1; 0, with nothing changed, if it is the best already, or the step
 * has no figure. */
int ddp_validation_go_back(ddp_validation *v, size_t step);

/* Give all ranks rank 0's best figure. v may be NULL. Collective. Fails with DDP_ERR_COMM. */
ddp_status ddp_validation_share(ddp_validation *v, ddp_error *err) DDP_MUST_CHECK;

/* Return the result of the last validation, which the next one overwrites; NULL: there was none. */
const ddp_validation_result *ddp_validation_last(const ddp_validation *v);

/* Set *figure to the best figure so far, *step to its step, *name to what it is, such as
 * "mAP@0.5:0.95" (static), and return 1. Returns 0 if there is none, or v is NULL. */
int ddp_validation_best(const ddp_validation *v, const char **name, double *figure, size_t *step);

#endif
