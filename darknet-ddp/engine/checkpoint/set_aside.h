/* checkpoint/set_aside.h: moves the files of an earlier run out of the way of a new run of the same
 * name, and back.
 *
 * The folders DIRECTORY/BASE.1/, BASE.2/ and so on hold the files of one run each: its pairs,
 * averages and records (find.h), whose names stay. The highest number was set aside last.
 *
 * While files are moved, out or back, their folder is named BASE.<number>.moving. If a process dies
 * meanwhile, a run's files are at two places; ddp_set_aside_recover puts them together. */
#ifndef DDP_CHECKPOINT_SET_ASIDE_H
#define DDP_CHECKPOINT_SET_ASIDE_H

#include "base/status.h"

/* Move the files that a run of base has left in directory into a new folder, if files of a pair,
 * averages or a CSV file are among them.
 *   folder   becomes the folder's path, which the caller frees; NULL: nothing moved, or failed
 *   spare    path of the weights with which the new run begins; they stay in directory, too. NULL:
 *            none
 * Fails with DDP_ERR_IO, DDP_ERR_NOMEM. Files then go back, or ddp_set_aside_recover moves them. */
ddp_status ddp_set_aside(char **folder, const char *directory, const char *base, const char *spare,
                         ddp_error *err) DDP_MUST_CHECK;

/* Return the path of the folder BASE.<number> in directory that has the highest number and holds
 * the file `name`; with name NULL: that holds a pair. BASE.<number>.moving counts, too. The caller
 * frees the path. NULL: there is none, no memory, or directory cannot be read. */
char *ddp_set_aside_last(const char *directory, const char *base, const char *name);

/* Set aside the files that base has in directory, then move the files of `folder`, BASE.<number>,
 * back to directory. A pair stays in the folder if directory has files of the pair's name that
 * belong to another base. An empty folder is removed. *moved becomes 1 if a file came back, else 0.
 * Fails with DDP_ERR_IO, DDP_ERR_NOMEM; ddp_set_aside_recover then ends a move that has begun. */
ddp_status ddp_set_aside_undo(int *moved, const char *folder, const char *directory,
                              const char *base, ddp_error *err) DDP_MUST_CHECK;

/* If a move of base's files was interrupted, out or back, move them back to directory. *moved
 * becomes 1 if a file came back, else 0. Call when the name is owned (name_lock.h), before its
 * files are read. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_set_aside_recover(int *moved, const char *directory, const char *base,
                                 ddp_error *err) DDP_MUST_CHECK;

#endif
