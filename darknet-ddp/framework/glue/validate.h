/* glue/validate.h: how good a network is on pictures that it does not train on.
 *
 * Ranks take the pictures in turns, one at a time. So the network's output for a picture, and every
 * figure, is the same to the last bit on any number of ranks. The network is left as it was: batch,
 * size, mode. Every rank must have the same weights and statistics.
 */
#ifndef DDP_GLUE_VALIDATE_H
#define DDP_GLUE_VALIDATE_H

#include "base/status.h"
#include "comm/group.h"
#include "eval/precision.h"
#include "glue/network.h"

typedef struct ddp_validation_set {
    char *const *paths;
    size_t count;
    const char *list;      /* the file that they are read from */
    const size_t *numbers; /* the line of each there, from 1 */
    char *labelled;        /* of each: it had a label file when the run began */
    char *told;            /* of each: it could not be read, and the listener knows */
    int width, height;     /* of the network's input; 0: as it is */
    int classes;
    int *map; /* of a tree of classes: which node each class is; NULL: none */
} ddp_validation_set;

/* All that was found and all that was there, sorted (eval/detections.h), boxes as fractions of
 * their picture. */
typedef void (*ddp_found_listener)(void *ctx, const ddp_detection *found, size_t count,
                                   const ddp_truth *truths, size_t truth_count);

/* Either may be NULL. */
typedef struct ddp_validation_listener {
    ddp_found_listener found; /* of a detector, once, on rank 0 */
    void *ctx;                /* of found */
    /* A picture, or its labels, that cannot be read, and its line: once, on the rank that has it.
     */
    void (*unreadable)(const char *sentence);
} ddp_validation_listener;

/* Can this network be validated as a detector with what the set labels? DDP_ERR_USAGE: it is no
 * detector, or one of another number of classes. */
ddp_status ddp_validate_check_detector(const network *net, const ddp_validation_set *set,
                                       ddp_error *err) DDP_MUST_CHECK;

/* A detector. *all, each[0..classes) and *unreadable are set on every rank. *unreadable: how many
 * pictures are left out, since they or their labels cannot be read. A box that is not finite is
 * left out, too, and counted (all->left_out). Blocks until every rank has called it.
 * Fails as ddp_validate_check_detector, with DDP_ERR_NOMEM, DDP_ERR_COMM, DDP_ERR_IO (another rank
 * failed). */
ddp_status ddp_validate_detector(ddp_precision *all, ddp_precision *each, size_t *unreadable,
                                 ddp_group *group, network *net, const ddp_validation_set *set,
                                 const ddp_precision_config *config,
                                 const ddp_validation_listener *listener,
                                 ddp_error *err) DDP_MUST_CHECK;

typedef struct ddp_accuracy {
    size_t pictures;   /* that could be read */
    double top1, topk; /* shares of them */
    double loss;       /* mean of -log of the probability of the true class */
} ddp_accuracy;

/* A classifier: class_of[i] is the class of set->paths[i]. *out is set on every rank. Otherwise as
 * above. */
ddp_status ddp_validate_classifier(ddp_accuracy *out, size_t *unreadable, ddp_group *group,
                                   network *net, const ddp_validation_set *set, const int *class_of,
                                   int top, const ddp_validation_listener *listener,
                                   ddp_error *err) DDP_MUST_CHECK;

#endif
