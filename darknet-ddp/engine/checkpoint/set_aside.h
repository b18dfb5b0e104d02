/* checkpoint/set_aside.h: moves an earlier run's files out of the way of a new run of the same
 * name.
 *
 * DIRECTORY/BASE.1/, BASE.2/ and so on hold one run's files each, under the names that they had.
 * These are its pairs, CSV file, page, log and what else it left as BASE.<ending>. The highest
 * number is the run that was set aside last. Files are renamed within one file system, and never
 * removed.
 *
 * While files are on their way, out or back, their folder is named BASE.<number>.moving. A process
 * that dies then leaves a run's files at two places; ddp_set_aside_recover puts them together.
 */
#ifndef DDP_CHECKPOINT_SET_ASIDE_H
#define DDP_CHECKPOINT_SET_ASIDE_H

#include "base/status.h"

/* Set aside the files that a run of base has left in directory, if weights, averages or a CSV file
 * are among them. The new run begins with the weights file `spare`, which stays in its place, too,
 * by a second name; NULL: none. *folder becomes where the files are now, which the caller frees;
 * NULL: there was nothing, or it failed. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. Files that were
 * moved by then are moved back; what cannot be, ddp_set_aside_recover moves later. */
ddp_status ddp_set_aside(char **folder, const char *directory, const char *base, const char *spare,
                         ddp_error *err) DDP_MUST_CHECK;

/* Return the folder BASE.<number> in directory that holds a file called name; name NULL: that holds
 * a pair, by its header. If there are several, the highest number is taken. A folder whose files
 * are on their way counts, too. The caller frees it. NULL: there is none, no memory, or directory
 * cannot be read. */
char *ddp_set_aside_last(const char *directory, const char *base, const char *name);

/* Move the files of the folder, BASE.<number>, back to their places. Remove it if nothing is left
 * there. What this base has in directory is set aside first. A pair in whose place another base's
 * lies stays in the folder. *came becomes 1 if a file came. Fails with DDP_ERR_IO, DDP_ERR_NOMEM;
 * ddp_set_aside_recover puts files that have come by then with the rest. */
ddp_status ddp_set_aside_undo(int *came, const char *folder, const char *directory,
                              const char *base, ddp_error *err) DDP_MUST_CHECK;

/* Move the files of base in directory back to their places, if a move was cut off, in either
 * direction. *came becomes 1 if a file came. Call when the name is owned, before its files are
 * read. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_set_aside_recover(int *came, const char *directory, const char *base,
                                 ddp_error *err) DDP_MUST_CHECK;

#endif
