/* trainer/deferred_saves.h: what is to be saved once all ranks have the same parameters. A save
 * that was asked for in a period of local SGD (ddp_step_plug) waits for its end. Local. */
#ifndef DDP_TRAINER_DEFERRED_SAVES_H
#define DDP_TRAINER_DEFERRED_SAVES_H

#include "base/status.h"

#include <stddef.h>

typedef struct ddp_deferred_save {
    char *path;
    int cutoff; /* how many layers */
} ddp_deferred_save;

/* All zero: none. Release it. */
typedef struct ddp_deferred_saves {
    ddp_deferred_save *list; /* in the order in which they were asked for; a path once */
    size_t count;
} ddp_deferred_saves;

/* Fails with DDP_ERR_NOMEM. */
ddp_status ddp_deferred_saves_add(ddp_deferred_saves *w, const char *path, int cutoff,
                                  ddp_error *err) DDP_MUST_CHECK;

/* It has been saved now. Nothing happens where none of this path waits. */
void ddp_deferred_saves_drop(ddp_deferred_saves *w, const char *path);

void ddp_deferred_saves_release(ddp_deferred_saves *w);

#endif
