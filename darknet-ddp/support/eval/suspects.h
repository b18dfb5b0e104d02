/* eval/suspects.h: ranks the labels of a data set by how likely they are wrong, given what a
 * network that was trained on them finds.
 *
 * 1. Begin with an all zero ddp_suspects, and set its `classes` and `views`.
 * 2. ddp_suspects_add takes the pictures, one at a time.
 * 3. ddp_suspects_rank makes the list. ddp_suspects_release frees it.
 *
 * A view is a network, or a network that looks at the mirrored picture. Scores are means over all
 * views: what only one of them finds is worth little.
 *
 * If the loss is known that a label had while a network was trained on it, this loss decides how
 * much the label is doubted. The network has learnt from all other labels what should stand there.
 * A loss of L has odds of e^L - 1, times a constant, that the label is wrong. What is found still
 * decides the kind of the suspect, and which things have no label.
 *
 * A network may know that there is a thing, and not which one. So two questions are asked apart: is
 * there a thing at the place of a box, of whatever class, and which class is it? Three kinds of
 * suspects follow: a label at whose place nothing is seen, a thing without a label, and a label at
 * whose place another class is likelier. A suspect is worth the more, the rarer its like is in its
 * class. So a class that the network knows badly does not fill the list. If nothing is seen at a
 * label, and a thing is seen that is partly there, both make one suspect. Also in the list a thing
 * without a label and a suspect label that it partly covers are one. Of two labels on one thing one
 * is surely wrong.
 */
#ifndef DDP_EVAL_SUSPECTS_H
#define DDP_EVAL_SUSPECTS_H

#include "eval/detections.h"

typedef enum ddp_suspect_kind {
    DDP_SUSPECT_TWICE,   /* two labels on one thing: IoU of 0.9 or more */
    DDP_SUSPECT_CLASS,   /* another class is found at the label's place */
    DDP_SUSPECT_PLACE,   /* a thing is found that is partly at the label (IoU from 0.3 to 0.6) */
    DDP_SUSPECT_MISSING, /* a find without a label */
    DDP_SUSPECT_EXTRA,   /* a label with which nothing that is found has an IoU above 0.3 */
    DDP_SUSPECT_KINDS
} ddp_suspect_kind;

typedef struct ddp_label_truth {
    ddp_truth truth;
    int line;    /* number of its line in its file, from 1 */
    double loss; /* -log(objectness) - log(probability of the class) + 1 - IoU, a mean over a run;
                  * 0: not known */
} ddp_label_truth;

typedef struct ddp_suspect {
    ddp_suspect_kind kind;
    uint32_t picture;
    double doubt;          /* from 0 to 1: how likely something is wrong */
    ddp_label_truth label; /* line 0: there is no label (MISSING) */
    ddp_label_truth other; /* second label, or, with line 0, a find of the network */
    int has_other;         /* 1: `other` is set; 0: it is not (EXTRA) */
    double score; /* score of the find in `other`, a mean over views; 0: no find (TWICE, EXTRA) */
} ddp_suspect;

typedef struct ddp_suspects {
    int classes;        /* number of classes */
    int views;          /* number of views, at least 1 */
    size_t labels;      /* labels that were added */
    size_t found;       /* labels at whose place a thing is seen, more surely than not */
    ddp_suspect *list;  /* after ddp_suspects_rank: the most doubtful one first */
    size_t count, room; /* elements of `list`: count in use, room allocated */
    struct ddp_suspect_evidence *evidence;
    size_t evidence_count, evidence_room;
} ddp_suspects;

/* Return a word for a kind: "twice". */
const char *ddp_suspect_word(ddp_suspect_kind kind);

/* Add the labels of a picture, and what is found there, in the same unit: all finds of a score
 * above about 0.01, in any order. `picture` of a find is its view, below s->views. All class_id
 * must be below s->classes. Returns 0; -1 if there is no memory. */
int ddp_suspects_add(ddp_suspects *s, uint32_t picture, const ddp_label_truth *labels,
                     size_t label_count, const ddp_detection *found, size_t found_count);

/* Rank all that was added, and leave out what has a doubt below 0.02; nothing may be added
 * afterwards. The list depends only on what was added and in which order. */
void ddp_suspects_rank(ddp_suspects *s);

/* Free what *s holds. All zero is allowed. */
void ddp_suspects_release(ddp_suspects *s);

#endif
