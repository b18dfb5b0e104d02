/* check/same_pictures.h: finds pictures that stand in lists several times under different paths. */
#ifndef DDP_CHECK_SAME_PICTURES_H
#define DDP_CHECK_SAME_PICTURES_H

#include "check/lists.h"

/* Compare the pictures of a training list and a validation list, which may be NULL, by the contents
 * of their files. Adds up to three warnings to *f, each with a count and an example. For each list:
 * lines with different paths name the same picture. For both: pictures to validate on are trained
 * on. A file that cannot be read is compared by its path. If there is no memory, f->lost becomes 1.
 */
void ddp_check_same_pictures(ddp_faults *f, const ddp_list_lines *train,
                             const ddp_list_lines *valid);

#endif
