/* trainer/deferred_saves.h: a list of saves that were asked for within a period of local SGD, when
 * ranks have different parameters. They wait for the period's end. Each rank keeps its own list. */
#ifndef DDP_TRAINER_DEFERRED_SAVES_H
#define DDP_TRAINER_DEFERRED_SAVES_H

#include "base/status.h"

#include <stddef.h>

typedef struct ddp_deferred_save {
    char *path;
    int cutoff; /* how many layers to save, from the first on */
} ddp_deferred_save;

/* A list of saves. All zero: an empty list. Release it with ddp_deferred_saves_release. */
typedef struct ddp_deferred_saves {
    ddp_deferred_save *list; /* in the order of ddp_deferred_saves_add; no path twice */
    size_t count;
} ddp_deferred_saves;

/* Add a save of the first `cutoff` layers at path; path is copied. If a save at path is in the
 * list, change its cutoff instead. Fails with DDP_ERR_NOMEM, and leaves the list as it was. */
ddp_status ddp_deferred_saves_add(ddp_deferred_saves *w, const char *path, int cutoff,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Remove the save at path from the list, if it is there. */
void ddp_deferred_saves_drop(ddp_deferred_saves *w, const char *path);

/* Free the list's memory, and make it empty. Writes no file. */
void ddp_deferred_saves_release(ddp_deferred_saves *w);

#endif
