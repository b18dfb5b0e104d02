/* check/cfg_end.h: finds out from the sections of a cfg whether its network is a detector, whether
 * it has a loss, and how many values it gives. */
#ifndef DDP_CHECK_CFG_END_H
#define DDP_CHECK_CFG_END_H

#include "base/cfg_text.h"

typedef struct ddp_cfg_end {
    /* title of the first [yolo], [region] or [detection]; NULL: the network is no detector */
    const ddp_cfg_line *head;
    const ddp_cfg_line *last; /* title of the last section; NULL: the cfg has no title */
    int has_softmax;          /* 1: the cfg has a section [softmax] */
    int has_loss;             /* 1: the cfg has a section that computes a loss */
    const char *key; /* key of the number of outputs: "filters", "output"; NULL: not known */
    int outputs; /* value of `key` in the cfg; 1: the cfg lacks the key; unused if `key` is NULL */
    /* number of the key's line in the cfg; if the key is missing, of its section's title */
    int line;
} ddp_cfg_end;

/* Examine a cfg. The pointers in the result point into it. */
ddp_cfg_end ddp_cfg_end_of(const ddp_cfg_text *cfg);

enum { DDP_MISFIT_TEXT = 512 }; /* bytes of a sentence on what is wrong with a cfg, with its zero */

/* Return 1, with a sentence in text, if a classifier's cfg does not give as many values as there
 * are classes. Else returns 0, also for a detector, or if end->key is NULL.
 *   classes   classes= of the .data file at data_path; 0: it has none, and Darknet takes 2 */
int ddp_cfg_end_misfit(const ddp_cfg_end *end, const char *data_path, int classes,
                       char text[DDP_MISFIT_TEXT]);

/* Return 1, with a sentence in text, if no section computes a loss, so that nothing is learnt. The
 * sentence is about the line of end->last. Returns 0 for a cfg without a title. */
int ddp_cfg_end_no_loss(const ddp_cfg_end *end, char text[DDP_MISFIT_TEXT]);

#endif
