/* inputs/overrides.h: computes the values with which the options -epochs, -batch, -subdivisions,
 * -width, -height and -learning_rate replace those of a cfg's [net].
 *
 * -epochs sets how many pictures a run sees, and -batch alone does not change it. So both change
 * max_batches= and, if the cfg has it, steps=, step=, burn_in= (by ddp_burn_in_of), sgdr_cycle=,
 * and gamma= of the policies exp and sigmoid. */
#ifndef DDP_INPUTS_OVERRIDES_H
#define DDP_INPUTS_OVERRIDES_H

#include "base/status.h"
#include "glue/darknet.h"
#include "options/options.h"

#include <stdio.h>

enum { DDP_OVERRIDES_MOST = 16, DDP_OVERRIDE_BYTES = 256 };

/* Values that replace the cfg's. All zero: none. It points into itself, so it must not be
 * copied. */
typedef struct ddp_overrides {
    ddp_net_value values[DDP_OVERRIDES_MOST + 1];      /* new values; a NULL key ends them */
    char text[DDP_OVERRIDES_MOST][DDP_OVERRIDE_BYTES]; /* the new values as text */
    char was[DDP_OVERRIDES_MOST][DDP_OVERRIDE_BYTES];  /* was[i]: the cfg's values[i]; "": none */
    int count;
    double epoch; /* number of batches of an epoch, also a fraction; 0: -epochs is not given */
} ddp_overrides;

/* Set *o to the values that replace those of the file cfg. Nothing has to be freed. On failure *o
 * is empty.
 *   list  path of the training list, whose lines -epochs counts; NULL: none
 *   size  number of ranks
 * Fails with DDP_ERR_USAGE if -epochs is given and list is NULL, empty or unreadable, or steps=
 * becomes too long. Fails with DDP_ERR_FORMAT if the cfg has a zero byte, or if a value that
 * is replaced or used, but gamma=, is no number or too small. Fails also with DDP_ERR_IO,
 * DDP_ERR_NOMEM. */
ddp_status ddp_overrides_make(ddp_overrides *o, const ddp_options *options, const char *cfg,
                              const char *list, int size, ddp_error *err) DDP_MUST_CHECK;

/* Return the value of -epochs to advise for training a finished run further: twice `epochs`, or the
 * first number beyond what the run has made if that is more. Returns 0 if -epochs was not given.
 *   epochs   present value of -epochs
 *   batches  number of batches that the run has made; 0: those of `epochs` epochs */
int ddp_overrides_more_epochs(const ddp_overrides *o, int epochs, size_t batches);

/* Print one line with all new values, which begins with `begin`; nothing if there are none. */
void ddp_overrides_print(FILE *out, const char *begin, const ddp_overrides *o);

#endif
