/* validate/schedule.h: validating while training: when, on what, and what follows from the figures.
 *
 * The pictures are those of valid= in the .data file. Every rank takes part, and all know the
 * result.
 */
#ifndef DDP_VALIDATE_SCHEDULE_H
#define DDP_VALIDATE_SCHEDULE_H

#include "base/status.h"
#include "comm/group.h"
#include "glue/train_position.h"
#include "glue/validate.h"
#include "inputs/same_data.h"
#include "options/options.h"

typedef struct ddp_validation ddp_validation;

/* What the last validation gave. */
typedef struct ddp_validation_result {
    int is_classifier;
    ddp_precision all; /* of a detector */
    const ddp_precision *each;
    char *const *names; /* of the classes; NULL: names= has too few */
    size_t name_count;  /* that names= has; 0: there is no names= */
    int classes;
    ddp_accuracy accuracy; /* of a classifier */
    int top;               /* of its top-k */
    size_t unreadable;     /* pictures that are left out */
    double key;            /* the figure by which the best weights are chosen */
    double seconds;
} ddp_validation_result;

/* command: "detector" or "classifier"; data: the .data file. *out is NULL where nothing is to be
 * validated: another command, no valid=, or -ddp_validate 0. options and group must outlive it.
 * Fails with DDP_ERR_IO, DDP_ERR_FORMAT, DDP_ERR_USAGE (-ddp_validate K without valid=),
 * DDP_ERR_NOMEM. */
ddp_status ddp_validation_open(ddp_validation **out, const ddp_options *options, ddp_group *group,
                               const char *command, const char *data,
                               ddp_error *err) DDP_MUST_CHECK;
void ddp_validation_close(ddp_validation *v); /* NULL is allowed */

enum { DDP_VALIDATION_LIST = 64 };

/* What it validates on: how many pictures, and a hash of their paths. */
void ddp_validation_list(const ddp_validation *v, char text[DDP_VALIDATION_LIST]);

/* The same of what figures depend on, wherever it lies and in whatever order: the pictures' names,
 * and their labels or classes, and -points. Reads all labels. */
void ddp_validation_contents(const ddp_validation *v, char text[DDP_VALIDATION_LIST]);

/* Do all ranks validate on the same pictures, with the same files of truth? v may be NULL. Blocks.
 * DDP_ERR_MISMATCH names what differs; fails as ddp_same_data_agree. */
ddp_status ddp_validation_agree(const ddp_validation *v, ddp_truth_files truth,
                                ddp_error *err) DDP_MUST_CHECK;

/* Have a detector's pictures labels to compare with? v may be NULL. Rank 0 prints a line where all
 * label files are empty. A label file that is there now and gone in a validation is one that cannot
 * be read. Fails with DDP_ERR_FORMAT: none has a label file, or with -labels_required one has none.
 */
ddp_status ddp_validation_find_labels(ddp_validation *v, ddp_error *err) DDP_MUST_CHECK;

/* The training list has so many lines, and a step takes `batch` of them. Without -ddp_validate K it
 * is done at the end of each epoch, of small data of each second, third and so on: 100 steps lie
 * between two, so that a run of few pictures does not spend its time on validating and saving. It
 * depends on steps alone, and never on a clock: the same run validates at the same steps anywhere.
 * Rank 0 says when that is. width, height: of the cfg, at which pictures are validated. */
void ddp_validation_begin(ddp_validation *v, size_t lines, size_t batch, int width, int height);

/* Is it due after this step? NULL: never. */
int ddp_validation_due(const ddp_validation *v, const ddp_train_position *now);

/* Before a detector is measured: as ddp_validate_check_detector. */
ddp_status ddp_validation_check_detector(const ddp_validation *v, const network *net,
                                         ddp_error *err) DDP_MUST_CHECK;

/* Validate net; listener (NULL: none) as of ddp_validate_detector. Blocks until every rank is here.
 * Fails as ddp_validate_detector, and on every rank with DDP_ERR_FORMAT: more pictures or their
 * labels cannot be read than -ddp_on_bad_data skips, or none can. */
ddp_status ddp_validation_measure(ddp_validation *v, network *net,
                                  const ddp_validation_listener *listener,
                                  ddp_error *err) DDP_MUST_CHECK;

/* What follows from the figures of ddp_validation_measure, on all ranks; rank 0 prints them.
 * Returns whether they are the best so far. *stop: the validations since the best, where they are
 * as many as -patience says, and batches are left; else 0. */
int ddp_validation_judge(ddp_validation *v, const ddp_train_position *now, int *stop);

/* A line on standard output that counts pictures that cannot be read, and one that counts boxes
 * that are not finite, if there were any. */
void ddp_validation_say_left_out(const ddp_validation_result *r);

/* The paths of the pictures, *count of them, in the order of the list. */
char *const *ddp_validation_pictures(const ddp_validation *v, size_t *count);

/* What is known of it before there are figures: is_classifier, names, classes. NULL: v is. */
const ddp_validation_result *ddp_validation_kind(const ddp_validation *v);

/* A value of the .data file, or NULL. */
const char *ddp_validation_key(const ddp_validation *v, const char *key);

/* A run that goes on: on rank 0, in their order, the figures of the validations before it. */
void ddp_validation_recall(ddp_validation *v, size_t step, double key);

/* On rank 0: the best weights on the disk are those of that step (0: there are none), which later
 * figures are compared with. Returns 0 where that is so already, or the step has no figure: then
 * nothing changes. */
int ddp_validation_go_back(ddp_validation *v, size_t step);

/* All ranks learn what rank 0 knows of the best. v may be NULL. Fails with DDP_ERR_COMM. */
ddp_status ddp_validation_share(ddp_validation *v, ddp_error *err) DDP_MUST_CHECK;

/* NULL: there was none. */
const ddp_validation_result *ddp_validation_last(const ddp_validation *v);

/* The best figure so far and its name, "mAP@0.5:0.95"; 0: there is none. */
int ddp_validation_best(const ddp_validation *v, const char **name, double *figure, size_t *step);

#endif
