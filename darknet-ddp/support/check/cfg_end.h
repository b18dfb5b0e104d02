/* check/cfg_end.h: is a network a detector, has it a loss, how many values does it give? The last
 * sections of its cfg tell. */
#ifndef DDP_CHECK_CFG_END_H
#define DDP_CHECK_CFG_END_H

#include "base/cfg_text.h"

/* The kind and outputs of the network of a cfg, by its last sections. */
typedef struct ddp_cfg_end {
    const ddp_cfg_line
        *head; /* title of the first [yolo], [region] or [detection]; NULL: it is no detector */
    const ddp_cfg_line *last; /* title of the last section; NULL: there is none */
    int has_softmax;          /* 1: a section is a [softmax] */
    int has_loss;             /* 1: a section computes the loss */
    const char
        *key;    /* key that sets how many values come out: "filters"; NULL: no single key does */
    int outputs; /* the key's value; 1 if the key is missing */
    int line;    /* line of the key in the cfg, or of its section's title if the key is missing */
} ddp_cfg_end;

/* Return the answers for a cfg. The answers point into cfg. */
ddp_cfg_end ddp_cfg_end_of(const ddp_cfg_text *cfg);

enum { DDP_MISFIT_TEXT = 512 }; /* bytes of the sentences below, with the zero at their end */

/* Return 1, with a sentence in text, if a classifier's cfg gives another number of values than the
 * .data file at data_path has classes. The file says `classes`; 0: it has no classes=,
 * and Darknet takes 2. Returns 0 for a detector, or if end->key is NULL. */
int ddp_cfg_end_misfit(const ddp_cfg_end *end, const char *data_path, int classes,
                       char text[DDP_MISFIT_TEXT]);

/* Return 1, with a sentence in text, if no section of a network gives a loss, so that nothing is
 * learnt. The sentence is for the line of end->last. Returns 0 for a cfg without sections. */
int ddp_cfg_end_no_loss(const ddp_cfg_end *end, char text[DDP_MISFIT_TEXT]);

#endif
