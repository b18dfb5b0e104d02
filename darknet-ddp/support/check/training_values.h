/* check/training_values.h: what a cfg says of training, and cannot be meant. */
#ifndef DDP_CHECK_TRAINING_VALUES_H
#define DDP_CHECK_TRAINING_VALUES_H

#include "base/cfg_text.h"
#include "check/faults.h"

/* Add to f, as warnings, of the cfg at path:
 *   "cfg-rate"        a rate of 0, a burn_in= as long as the run, steps= that nothing reads, that
 *                     do not rise, that lie before the first batch or that no batch reaches,
 *                     scales= that raise the rate to more than ten times
 *   "cfg-batch"       a batch of one picture
 *   "cfg-length"      a network that is no detector, and no max_batches=
 *   "cfg-value"       colours and weight decay of which little is left to learn from, and what
 *                     changes no picture of a detector
 *   "cfg-activation"  an activation that presses together what goes into a detector's last layer or
 *                     [softmax]
 *   "cfg-twice"       a key that stands twice in a section */
void ddp_check_training_values(ddp_faults *f, const char *path, const ddp_cfg_text *cfg);

#endif
