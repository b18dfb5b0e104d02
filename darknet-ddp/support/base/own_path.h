/* base/own_path.h: finds the file of the running program. */
#ifndef DDP_BASE_OWN_PATH_H
#define DDP_BASE_OWN_PATH_H

#include <limits.h>

/* Write the path of the running program to path. If its file was replaced, " (deleted)" is behind
 * it. Returns 0; -1 if the path is not known, with errno set and path empty. */
int ddp_own_path(char path[PATH_MAX]);

#endif
