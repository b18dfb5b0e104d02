/* check/same_pictures.h: finds pictures that a list has under several paths, and pictures to
 * validate on that are trained on. */
#ifndef DDP_CHECK_SAME_PICTURES_H
#define DDP_CHECK_SAME_PICTURES_H

#include "check/lists.h"

/* Compare pictures by the contents of their files; files that are empty or cannot be read, by their
 * paths. valid may be NULL. No memory: f->lost is set. Adds these warnings, each at most once:
 *  - for each list: different paths in it name the same picture
 *  - for both: pictures to validate on are trained on */
void ddp_check_same_pictures(ddp_faults *f, const ddp_list_lines *train,
                             const ddp_list_lines *valid);

#endif
