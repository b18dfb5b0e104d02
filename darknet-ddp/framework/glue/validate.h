/* glue/validate.h: measures on all ranks how good a network is on a list of pictures.
 *
 * Rank r of N computes pictures r, r + N, ..., one at a time, so that the number of ranks changes
 * no bit of a figure. All ranks must have the same weights and BatchNorm statistics. Afterwards the
 * network has the batch and size that it had before. */
#ifndef DDP_GLUE_VALIDATE_H
#define DDP_GLUE_VALIDATE_H

#include "base/status.h"
#include "comm/group.h"
#include "eval/precision.h"
#include "glue/network.h"

typedef struct ddp_validation_set {
    char *const *paths; /* paths of the pictures */
    size_t count;
    const char *list;    /* path of the file that lists the pictures, for messages */
    const size_t *lines; /* lines[i]: number of the line of paths[i] in `list`, from 1 */
    /* labelled[i]: 1: paths[i] had a label file when the run began; detectors only */
    char *labelled;
    char *reported; /* reported[i]: 1: listener->unreadable was called for paths[i]; 0 at first */
    /* size of the network's input during a validation, in pixels; 0: unchanged */
    int width, height;
    int classes; /* number of classes; a detector's: the network's or, with `map`, map's */
    int bf16;    /* 1: convolutions compute in bf16; ddp_network_check_bf16 must have allowed it */
    int *map;    /* a tree's map for a detector (ddp_find_rules); NULL: no tree */
} ddp_validation_set;

/* Take the detections and labelled boxes of all pictures that could be read, sorted
 * (eval/detections.h), in fractions of the picture. The arrays are valid during the call. */
typedef void (*ddp_found_listener)(void *ctx, const ddp_detection *found, size_t count,
                                   const ddp_truth *truths, size_t truth_count);

/* Functions that a validation calls; each may be NULL, and so may be the listener. */
typedef struct ddp_validation_listener {
    ddp_found_listener found; /* called once in a detector's validation, on rank 0 */
    void *ctx;                /* first argument of found */
    /* Called with a sentence that names a picture and its line in the list if the picture or its
     * labels cannot be read. Called once a run for a picture, on the rank that reads it. */
    void (*unreadable)(const char *sentence);
} ddp_validation_listener;

/* Fail with DDP_ERR_USAGE if net is no detector, or has fewer classes than set->classes; without
 * set->map also if it has more. */
ddp_status ddp_validate_check_detector(const network *net, const ddp_validation_set *set,
                                       ddp_error *err) DDP_MUST_CHECK;

/* Validate a detector (collective); every rank gets the results. listener may be NULL. Fails as
 * ddp_validate_check_detector, and with DDP_ERR_NOMEM, DDP_ERR_COMM; results are then undefined.
 *   all          figures of all classes together; all->left_out: boxes that are not finite
 *   each         each[c]: figures of class c; config->classes, its length, must be set->classes
 *   unreadable   number of pictures left out, since they or their labels cannot be read */
ddp_status ddp_validate_detector(ddp_precision *all, ddp_precision *each, size_t *unreadable,
                                 ddp_group *group, network *net, const ddp_validation_set *set,
                                 const ddp_precision_config *config,
                                 const ddp_validation_listener *listener,
                                 ddp_error *err) DDP_MUST_CHECK;

typedef struct ddp_accuracy {
    size_t pictures; /* number of pictures that could be read; 0: all figures are 0 */
    double top1;     /* fraction of pictures, 0 to 1, whose true class is the likeliest */
    double topk; /* fraction of pictures, 0 to 1, whose true class is among the `top` likeliest */
    double loss; /* mean of -log(probability of the true class), natural */
} ddp_accuracy;

/* Validate a classifier (collective); every rank gets the results. listener may be NULL. Fails with
 * DDP_ERR_USAGE (net has fewer outputs than classes), DDP_ERR_NOMEM, DDP_ERR_COMM; results are then
 * undefined.
 *   unreadable   number of pictures left out, since they cannot be read
 *   class_of     class_of[i]: class of set->paths[i]
 *   top          how many of the likeliest classes out->topk looks at */
ddp_status ddp_validate_classifier(ddp_accuracy *out, size_t *unreadable, ddp_group *group,
                                   network *net, const ddp_validation_set *set, const int *class_of,
                                   int top, const ddp_validation_listener *listener,
                                   ddp_error *err) DDP_MUST_CHECK;

#endif
