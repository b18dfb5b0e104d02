/* inputs/overrides.h: values of a cfg's [net] that the command line takes the place of: -epochs,
 * -batch, -subdivisions, -width, -height and -learning_rate.
 *
 * A run sees as many pictures as the cfg says, or as -epochs does: another batch changes
 * max_batches=, and with it all that counts batches: steps=, step=, burn_in=, sgdr_cycle=, and
 * gamma= of the policies exp and sigmoid. The learning rate stays the cfg's unless it is given. */
#ifndef DDP_INPUTS_OVERRIDES_H
#define DDP_INPUTS_OVERRIDES_H

#include "base/status.h"
#include "glue/darknet.h"
#include "options/options.h"

#include <stdio.h>

enum { DDP_OVERRIDES_MOST = 16, DDP_OVERRIDE_BYTES = 256 };

/* All zero: nothing is overridden. */
typedef struct ddp_overrides {
    ddp_net_value values[DDP_OVERRIDES_MOST + 1]; /* point into text; a NULL key ends them */
    char text[DDP_OVERRIDES_MOST][DDP_OVERRIDE_BYTES];
    char was[DDP_OVERRIDES_MOST][DDP_OVERRIDE_BYTES]; /* of the cfg; "" where it says nothing */
    int count;
    double epoch; /* batches, not a whole number; 0: no -epochs */
} ddp_overrides;

/* What the options make of the cfg. list: of the training pictures, which is read for -epochs;
 * NULL: there is none. size: of the group. *o is empty where it fails: with DDP_ERR_USAGE, -epochs
 * without pictures, with DDP_ERR_FORMAT, a value of the cfg that is replaced or reckoned with is
 * none; DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_overrides_make(ddp_overrides *o, const ddp_options *options, const char *cfg,
                              const char *list, int size, ddp_error *err) DDP_MUST_CHECK;

/* How many epochs train a finished run of so many further: twice as many, or more where those are
 * no more batches, nor more than it has made. 0: no -epochs. */
int ddp_overrides_more_epochs(const ddp_overrides *o, int epochs, size_t batches);

/* Print a line of them, where there are some; begin stands before it. */
void ddp_overrides_print(FILE *out, const char *begin, const ddp_overrides *o);

#endif
