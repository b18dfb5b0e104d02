/* check/cfg_end.h: is a network a detector, has it a loss, how many values does it give? By its
 * cfg's last sections. */
#ifndef DDP_CHECK_CFG_END_H
#define DDP_CHECK_CFG_END_H

#include "base/cfg_text.h"

typedef struct ddp_cfg_end {
    const ddp_cfg_line *head; /* first [yolo], [region] or [detection] of a detector; else NULL */
    const ddp_cfg_line *last; /* last title; NULL: there is none */
    int has_softmax;
    int has_loss;    /* 1: a section gives a loss */
    const char *key; /* key that sets how many values come out: "filters"; NULL: no one key does */
    int outputs;     /* the key's value */
    int line;        /* the key's line; its section's title's if the key is missing */
} ddp_cfg_end;

/* Look at cfg's sections. The result points into cfg. */
ddp_cfg_end ddp_cfg_end_of(const ddp_cfg_text *cfg);

enum { DDP_MISFIT_TEXT = 512 };

/* Return 1 if a classifier's cfg gives another number of values than its .data file has classes,
 * with a sentence in text. classes 0: the file has no classes=. */
int ddp_cfg_end_misfit(const ddp_cfg_end *end, const char *data_path, int classes,
                       char text[DDP_MISFIT_TEXT]);

/* Return 1 if no section of a network gives a loss, so that nothing is learnt. The network is not a
 * detector's. Writes a sentence to text, for the line of end->last. */
int ddp_cfg_end_no_loss(const ddp_cfg_end *end, char text[DDP_MISFIT_TEXT]);

#endif
