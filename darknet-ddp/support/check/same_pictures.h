/* check/same_pictures.h: finds pictures that stand in lists several times, whatever their paths. */
#ifndef DDP_CHECK_SAME_PICTURES_H
#define DDP_CHECK_SAME_PICTURES_H

#include "check/lists.h"

/* Compare the files of two lists by their contents. Adds up to three warnings to *f, each with a
 * count and an example. In each list: pictures that are the same although their lines differ. In
 * both: pictures to validate on that are trained on. Files of which size, start, middle and end are
 * alike are read whole. A file that cannot be read is compared by its path. valid may be NULL. No
 * memory: f->lost is set. */
void ddp_check_same_pictures(ddp_faults *f, const ddp_list_lines *train,
                             const ddp_list_lines *valid);

#endif
