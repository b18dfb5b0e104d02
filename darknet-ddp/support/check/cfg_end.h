/* check/cfg_end.h: what a network is for, by the last sections of its cfg. */
#ifndef DDP_CHECK_CFG_END_H
#define DDP_CHECK_CFG_END_H

#include "base/cfg_text.h"

typedef struct ddp_cfg_end {
    const ddp_cfg_line *head; /* the first [yolo], [region] or [detection]: a detector's; or NULL */
    const ddp_cfg_line *last; /* the last title; NULL: there is none */
    int has_softmax;
    int has_loss;    /* a section says how wrong what comes out is */
    const char *key; /* that says how many values come out: "filters"; NULL: more than one does */
    int outputs;     /* what it says */
    int line;        /* where; that of its section's title if it is not there */
} ddp_cfg_end;

/* It points into cfg. */
ddp_cfg_end ddp_cfg_end_of(const ddp_cfg_text *cfg);

enum { DDP_MISFIT_TEXT = 512 };

/* Does the end of a classifier's cfg give another number of values than its .data file has classes?
 * classes 0: it has no classes=. text is then a sentence. */
int ddp_cfg_end_misfit(const ddp_cfg_end *end, const char *data_path, int classes,
                       char text[DDP_MISFIT_TEXT]);

/* Does nothing in a network that is no detector's give a loss, so that nothing is learnt? text is
 * then a sentence, of the line of end->last. */
int ddp_cfg_end_no_loss(const ddp_cfg_end *end, char text[DDP_MISFIT_TEXT]);

#endif
