/* check/training_values.h: values of a cfg with which training goes on but which cannot be
 * meant. */
#ifndef DDP_CHECK_TRAINING_VALUES_H
#define DDP_CHECK_TRAINING_VALUES_H

#include "base/cfg_text.h"
#include "check/faults.h"

/* Add warnings about the cfg at path to f:
 *   "cfg-rate"        a rate of 0, a burn_in= as long as the run, steps= that nothing reads, that
 *                     do not rise, that lie before the first batch or that no batch reaches,
 *                     scales= that raise the rate to more than ten times
 *   "cfg-batch"       a batch of one picture
 *   "cfg-length"      a network that is no detector, and no max_batches=
 *   "cfg-value"       colours and weight decay with which little is left to learn from; a key that
 *                     changes no picture of a detector
 *   "cfg-activation"  an activation that squeezes the input of a detector's last layer or of
 *                     [softmax]
 *   "cfg-comma"       a comma at the end of a list of numbers
 *   "cfg-twice"       a key that stands twice in a section */
void ddp_check_training_values(ddp_faults *f, const char *path, const ddp_cfg_text *cfg);

#endif
