/* saves/disk_use.h: the room on the disk that a run's checkpoints take. On rank 0. */
#ifndef DDP_SAVES_DISK_USE_H
#define DDP_SAVES_DISK_USE_H

#include "base/status.h"
#include "core/params.h"
#include "core/state.h"

/* Bytes of a weights file, and of the state file beside it; both make a pair. */
typedef struct ddp_disk_use {
    double weights, state;
} ddp_disk_use;

/* Return the sizes of a pair of the table's network, without headers. state: what algorithms keep
 * beside it, on `ranks` ranks; NULL: nothing. */
ddp_disk_use ddp_disk_use_of(const ddp_param_table *table, const ddp_state *state, int ranks);

/* Fail with DDP_ERR_IO if directory has no room for one pair. Unknown room is enough. */
ddp_status ddp_disk_check_room(const ddp_disk_use *use, const char *directory,
                               ddp_error *err) DDP_MUST_CHECK;

/* Numbers of files that a whole run saves. */
typedef struct ddp_disk_files {
    size_t pairs;    /* weights, each with a state, of fixed names: NAME.backup, last, best */
    size_t numbered; /* numbered weights that Darknet saves */
    size_t keep;     /* how many numbered weights stay; 0: all */
    size_t averages; /* weights without a state: averages of weights (ema_alpha) */
} ddp_disk_files;

/* Return how many numbered weights a detector saves until batch `last`: every 100 batches below
 * 1000, then every 10000. */
size_t ddp_disk_numbered_of_detector(size_t last);

/* Print a line that says how much room all files of the run take in directory at most. */
void ddp_disk_print(const ddp_disk_use *use, const ddp_disk_files *files, const char *directory);

#endif
