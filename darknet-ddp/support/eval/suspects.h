/* eval/suspects.h: ranks the labels of a data set by how likely they are wrong. Compares the labels
 * with what a network, trained on them, finds in the pictures (its finds).
 *
 * 1. Begin with an all zero ddp_suspects, and set its `classes` and `views`.
 * 2. ddp_suspects_add takes the pictures, one at a time.
 * 3. ddp_suspects_rank makes the list. ddp_suspects_release frees it.
 *
 * A view is a network that looks at the pictures, or at the mirrored pictures. Scores are means
 * over all views, so that a find of only one of them counts little.
 *
 * A network may know that something is there, but not its class. So both are asked of the place
 * of each box (eval/places.h): is there a thing, and which class is likeliest? A suspect is one of
 * ddp_suspect_kind. Of two labels on one thing (TWICE), one is surely wrong. If far less is seen at
 * a label than at a find that partly covers it, the two make one suspect (PLACE).
 *
 * TWICE is doubted most. Of any other kind, the fewer suspects a class has, the more each of them
 * is doubted. So a class that the network knows badly does not fill the list. But if the mean loss
 * of a label is known (eval/loss_file.h), the odds that it is wrong are e^loss - 1, times a
 * constant. A listed label is doubted at least as much as a find that partly covers it. */
#ifndef DDP_EVAL_SUSPECTS_H
#define DDP_EVAL_SUSPECTS_H

#include "eval/detections.h"

typedef enum ddp_suspect_kind {
    DDP_SUSPECT_TWICE,   /* two labels on one thing: equal boxes, or IoU of 0.9 or more */
    DDP_SUSPECT_CLASS,   /* a label at whose place another class is likelier */
    DDP_SUSPECT_PLACE,   /* a label that a find covers only in part: IoU from 0.3 to 0.6 */
    DDP_SUSPECT_MISSING, /* a find without a label */
    DDP_SUSPECT_EXTRA,   /* a label of no other kind, where little is seen, or of large loss */
    DDP_SUSPECT_KINDS
} ddp_suspect_kind;

typedef struct ddp_label_truth {
    ddp_truth truth;
    int line;    /* number of the label's line in its file, from 1 */
    double loss; /* mean of -log(objectness) - log(probability of the class) + 1 - IoU, as in
                  * ddp_loss_line; 0: not known */
} ddp_label_truth;

typedef struct ddp_suspect {
    ddp_suspect_kind kind;
    uint32_t picture;
    double doubt;          /* from 0 to 1: how likely something is wrong */
    ddp_label_truth label; /* the label that is doubted; line 0: there is none (MISSING) */
    ddp_label_truth other; /* the second label (TWICE), or a find, whose line is 0 */
    int has_other;         /* 1: `other` is set; 0: not set (EXTRA) */
    double score;          /* score of the find in `other`, a mean over views; 0: no find */
} ddp_suspect;

typedef struct ddp_suspects {
    int classes;        /* number of classes */
    int views;          /* number of views, at least 1 */
    size_t labels;      /* number of labels that were added */
    size_t found;       /* number of labels at whose place a thing is more likely than not */
    ddp_suspect *list;  /* after ddp_suspects_rank: the suspects, by falling doubt */
    size_t count, room; /* elements of `list`: count in use, room allocated */
    struct ddp_suspect_evidence *evidence;
    size_t evidence_count, evidence_room;
} ddp_suspects;

/* Return the word for a kind: "twice". */
const char *ddp_suspect_word(ddp_suspect_kind kind);

/* Add the labels of a picture, and the finds of all views in it, in the same unit. Pass all finds
 * with a score above about 0.01, in any order. The member `picture` of a find is its view, below
 * s->views. Each class_id must be below s->classes. Returns 0; -1 if there is no memory. */
int ddp_suspects_add(ddp_suspects *s, uint32_t picture, const ddp_label_truth *labels,
                     size_t label_count, const ddp_detection *found, size_t found_count);

/* Make s->list of all that was added. Suspects with a doubt below 0.02 are left out. Call once,
 * when all is added. The list depends only on what was added, and in which order. */
void ddp_suspects_rank(ddp_suspects *s);

/* Free what *s holds. All zero is allowed. */
void ddp_suspects_release(ddp_suspects *s);

#endif
