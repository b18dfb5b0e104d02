/* check/training_values.h: warns of what training accepts in a cfg, but is hardly meant. */
#ifndef DDP_CHECK_TRAINING_VALUES_H
#define DDP_CHECK_TRAINING_VALUES_H

#include "base/cfg_text.h"
#include "check/faults.h"

/* Add warnings about the text of the cfg at path to *f. These are their kinds:
 *   "cfg-rate"         the learning rate, or its burn_in=, steps= or scales=
 *   "cfg-batch"        a batch of one picture
 *   "cfg-length"       no max_batches=, or 0, of a network that is no detector
 *   "cfg-value"        decay= or a key that changes pictures: too large, or without effect
 *   "cfg-activation"   an activation= that does not fit the detection layer or [softmax] behind it
 *   "cfg-comma"        a comma at the end of a list of numbers
 *   "cfg-twice"        a key that stands twice in a section */
void ddp_check_training_values(ddp_faults *f, const char *path, const ddp_cfg_text *cfg);

#endif
