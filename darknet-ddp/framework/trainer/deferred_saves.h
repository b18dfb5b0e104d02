/* trainer/deferred_saves.h: a list of saves that wait until all ranks have the same parameters, at
 * the end of a period of local SGD (ddp_step_plug). Each rank has its own. */
#ifndef DDP_TRAINER_DEFERRED_SAVES_H
#define DDP_TRAINER_DEFERRED_SAVES_H

#include "base/status.h"

#include <stddef.h>

typedef struct ddp_deferred_save {
    char *path;
    int cutoff; /* how many layers to save, from the first on */
} ddp_deferred_save;

/* Saves that wait until all ranks have the same parameters. Begin with all zeros; end with
 * ddp_deferred_saves_release. */
typedef struct ddp_deferred_saves {
    ddp_deferred_save *list; /* in the order in which they were asked for; no path twice */
    size_t count;
} ddp_deferred_saves;

/* Add a save of the first `cutoff` layers at path, which is copied. If the path waits already, only
 * its cutoff changes. Fails with DDP_ERR_NOMEM, with the list as it was. */
ddp_status ddp_deferred_saves_add(ddp_deferred_saves *w, const char *path, int cutoff,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Take the save at path off the list, if it is there, because it has been done. */
void ddp_deferred_saves_drop(ddp_deferred_saves *w, const char *path);

/* Empty the list and free its memory. No file changes. */
void ddp_deferred_saves_release(ddp_deferred_saves *w);

#endif
