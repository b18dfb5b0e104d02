/* inputs/overrides.h: values that options put into a cfg's [net]: -epochs, -batch, -subdivisions,
 * -width, -height and -learning_rate.
 *
 * A run sees as many pictures as the cfg says, or as -epochs does. So another batch changes
 * max_batches= and every key that counts batches: steps=, step=, burn_in= (by ddp_burn_in_of),
 * sgdr_cycle=, and gamma= of the policies exp and sigmoid. The learning rate stays the cfg's unless
 * it is given. */
#ifndef DDP_INPUTS_OVERRIDES_H
#define DDP_INPUTS_OVERRIDES_H

#include "base/status.h"
#include "glue/darknet.h"
#include "options/options.h"

#include <stdio.h>

enum { DDP_OVERRIDES_MOST = 16, DDP_OVERRIDE_BYTES = 256 };

/* Values that replace the cfg's. All zero: none. */
typedef struct ddp_overrides {
    /* The new values; a NULL key ends them. Each .value points into `text`, so the struct must not
     * be copied or moved. */
    ddp_net_value values[DDP_OVERRIDES_MOST + 1];
    char text[DDP_OVERRIDES_MOST][DDP_OVERRIDE_BYTES]; /* strings of values */
    char was[DDP_OVERRIDES_MOST][DDP_OVERRIDE_BYTES];  /* the cfg's own values; "": none */
    int count;
    double epoch; /* batches of an epoch, also a fraction; 0: -epochs is not given */
} ddp_overrides;

/* Set *o to the values by which the options replace those of the cfg file. `list`: the file of
 * training pictures, read for -epochs; NULL: there is none. `size`: the number of ranks. Nothing is
 * to be freed; *o must stay where it is. On failure *o is empty. Fails with DDP_ERR_USAGE (-epochs
 * without pictures, a list of steps that is too long), DDP_ERR_FORMAT (a value of the cfg that is
 * replaced or used is no number), DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_overrides_make(ddp_overrides *o, const ddp_options *options, const char *cfg,
                              const char *list, int size, ddp_error *err) DDP_MUST_CHECK;

/* Return a value of -epochs with which a finished run trains further: at least twice `epochs`, and
 * more batches than the `batches` that it has made. Returns 0 if -epochs was not given. */
int ddp_overrides_more_epochs(const ddp_overrides *o, int epochs, size_t batches);

/* Print one line with all overridden values, after the text begin; nothing if there are none. */
void ddp_overrides_print(FILE *out, const char *begin, const ddp_overrides *o);

#endif
