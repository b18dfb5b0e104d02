#ifndef CFG_RANGES_H
#define CFG_RANGES_H
#include "layers/cfg_keys.h"

/* What is wrong with the value of a section's key, one number or several with commas between: "must
 * not be negative". Null: nothing, or it has no range, or it is no number, which its parser says.
 * Only values are refused with which nothing can be learnt. */
const char *cfg_out_of_range(const cfg_section *s, const char *key, const char *value);

#endif
