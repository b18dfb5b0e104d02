/* check/training_values.h: warns of values in a cfg that training accepts, but that are hardly
 * meant. */
#ifndef DDP_CHECK_TRAINING_VALUES_H
#define DDP_CHECK_TRAINING_VALUES_H

#include "base/cfg_text.h"
#include "check/faults.h"

/* Add warnings about the cfg at path to *f:
 *   "cfg-rate"        a rate of 0, a burn_in= as long as the run, steps= that nothing reads, that
 *                     do not rise, that lie before the first batch or that no batch reaches,
 *                     scales= that raise the rate to more than ten times
 *   "cfg-batch"       a batch of one picture
 *   "cfg-length"      no max_batches=, or 0, of a network that is no detector
 *   "cfg-value"       hue= above 1, saturation= or exposure= above 10, decay= above .1; of a
 *                     detector, a key that changes pictures of classifiers alone
 *   "cfg-activation"  any but linear in front of a detection layer without new_coords=1, or
 *                     logistic in front of [softmax]
 *   "cfg-comma"       a comma at the end of a list of numbers
 *   "cfg-twice"       a key that stands twice in a section */
void ddp_check_training_values(ddp_faults *f, const char *path, const ddp_cfg_text *cfg);

#endif
