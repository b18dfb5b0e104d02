/* saves/disk_use.h: how much room on the disk the checkpoints of a run take. */
#ifndef DDP_SAVES_DISK_USE_H
#define DDP_SAVES_DISK_USE_H

#include "base/status.h"
#include "core/params.h"
#include "core/state.h"

/* Sizes in bytes of the two files of a checkpoint: weights, and state beside it. */
typedef struct ddp_disk_use {
    double weights, state;
} ddp_disk_use;

/* Return the least size of a checkpoint of the table's network on `ranks` ranks, without headers.
 * The real size is larger if the state file holds weights, too, as for layers with dontload=1.
 *   state  state of the algorithms; NULL: they have none */
ddp_disk_use ddp_disk_use_of(const ddp_param_table *table, const ddp_state *state, int ranks);

/* Fail with DDP_ERR_IO if directory has no room for one checkpoint. Passes if it cannot be found
 * out how much room there is. */
ddp_status ddp_disk_check_room(const ddp_disk_use *use, const char *directory,
                               ddp_error *err) DDP_MUST_CHECK;

/* Numbers of files that a whole run saves. */
typedef struct ddp_disk_files {
    size_t pairs;    /* checkpoints of fixed names, such as NAME.backup and NAME_best.weights */
    size_t numbered; /* numbered checkpoints, such as NAME_1000.weights */
    size_t keep;     /* number of numbered checkpoints that stay; 0: all */
    size_t averages; /* weights without a state: averages of weights (ema_alpha) */
} ddp_disk_files;

/* Return how many numbered checkpoints a detector saves up to and with batch `last`: every 100
 * batches below 1000, then every 10000. */
size_t ddp_disk_numbered_of_detector(size_t last);

/* Print how many bytes the run's files take in `directory` at most. use: size of a checkpoint. */
void ddp_disk_print(const ddp_disk_use *use, const ddp_disk_files *files, const char *directory);

#endif
