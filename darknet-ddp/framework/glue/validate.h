/* glue/validate.h: measures how good a network is on pictures that it does not train on.
 *
 * Ranks take the pictures in turns, one at a time. So the network's output for a picture, and every
 * figure, is the same to the last bit on any number of ranks. The network is left as it was: batch,
 * size, mode. Every rank must have the same weights and statistics. */
#ifndef DDP_GLUE_VALIDATE_H
#define DDP_GLUE_VALIDATE_H

#include "base/status.h"
#include "comm/group.h"
#include "eval/precision.h"
#include "glue/network.h"

typedef struct ddp_validation_set {
    char *const *paths; /* paths of the pictures */
    size_t count;
    const char *list;      /* path of the file that lists the pictures, for messages */
    const size_t *numbers; /* for each path: the number of its line in `list`, from 1 */
    char *labelled; /* for each path of a detector: 1 if it had a label file when the run began */
    char *told; /* for each path: 1 if the listener has heard that it is unreadable; 0 at first */
    int width, height; /* size that the network's input gets, in pixels; 0: it keeps its own */
    int classes;
    int bf16; /* 1: convolutions compute in bf16 (ddp_network_check_bf16) */
    int *map; /* map[i]: node of class i in a tree of classes; NULL: no tree */
} ddp_validation_set;

/* Take all detections and all labelled boxes, sorted (eval/detections.h). Boxes are fractions of
 * their picture. The arrays are valid until the listener returns. */
typedef void (*ddp_found_listener)(void *ctx, const ddp_detection *found, size_t count,
                                   const ddp_truth *truths, size_t truth_count);

/* Functions that a validation calls; each may be NULL. */
typedef struct ddp_validation_listener {
    ddp_found_listener found; /* called one time in a detector's validation, on rank 0 */
    void *ctx;                /* first argument of found */
    /* Take a sentence that names a picture that cannot be read, or whose labels cannot, with its
     * line. Called once for each, on the rank that reads it. */
    void (*unreadable)(const char *sentence);
} ddp_validation_listener;

/* Fail with DDP_ERR_USAGE if net is no detector, or if set->map is NULL and net's number of classes
 * is not set->classes. */
ddp_status ddp_validate_check_detector(const network *net, const ddp_validation_set *set,
                                       ddp_error *err) DDP_MUST_CHECK;

/* Validate a detector on all ranks. On every rank this sets *all (all classes together),
 * each[0..set->classes), and *unreadable, the number of pictures that are left out because they or
 * their labels cannot be read. Boxes that are not finite are left out, and counted in
 * all->left_out. listener may be NULL. Every rank must call it; it blocks until all have. Fails as
 * ddp_validate_check_detector, with DDP_ERR_NOMEM, DDP_ERR_COMM, and with DDP_ERR_IO if another
 * rank failed. */
ddp_status ddp_validate_detector(ddp_precision *all, ddp_precision *each, size_t *unreadable,
                                 ddp_group *group, network *net, const ddp_validation_set *set,
                                 const ddp_precision_config *config,
                                 const ddp_validation_listener *listener,
                                 ddp_error *err) DDP_MUST_CHECK;

typedef struct ddp_accuracy {
    size_t pictures; /* pictures that could be read */
    /* fraction of pictures, 0 to 1, whose true class is the likeliest (top1) or among the k
     * likeliest (topk) */
    double top1, topk;
    double loss; /* mean of -log of the probability of the true class */
} ddp_accuracy;

/* Validate a classifier on all ranks; class_of[i] is the class of set->paths[i], `top` the number
 * of classes that out->topk counts. Sets *out and *unreadable on every rank. Fails with
 * DDP_ERR_USAGE if net has fewer outputs than classes; blocks and fails otherwise as
 * ddp_validate_detector. */
ddp_status ddp_validate_classifier(ddp_accuracy *out, size_t *unreadable, ddp_group *group,
                                   network *net, const ddp_validation_set *set, const int *class_of,
                                   int top, const ddp_validation_listener *listener,
                                   ddp_error *err) DDP_MUST_CHECK;

#endif
