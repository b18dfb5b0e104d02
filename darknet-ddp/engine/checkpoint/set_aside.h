/* checkpoint/set_aside.h: moves the files of an earlier run out of the way of a new run of the same
 * name, and back.
 *
 * The folders DIRECTORY/BASE.1/, BASE.2/ and so on hold the files of one run each, under the names
 * that they had. These are its pairs, CSV file, page, log and its other files BASE.<ending>. The
 * highest number is the run that was set aside last. Files are renamed within one file system, and
 * never removed.
 *
 * While files are moved, out or back, their folder is named BASE.<number>.moving. If a process dies
 * meanwhile, a run's files are at two places; ddp_set_aside_recover puts them together. */
#ifndef DDP_CHECKPOINT_SET_ASIDE_H
#define DDP_CHECKPOINT_SET_ASIDE_H

#include "base/status.h"

/* Move the files that a run of base has left in directory into a new folder, if weights, averages
 * or a CSV file are among them. The weights file `spare`, with which the new run begins, also stays
 * in its place; NULL: none. *folder becomes the path of the folder, which the caller frees; NULL:
 * nothing was moved, or it failed. Fails with DDP_ERR_IO, DDP_ERR_NOMEM; then files are moved back,
 * now or by ddp_set_aside_recover. */
ddp_status ddp_set_aside(char **folder, const char *directory, const char *base, const char *spare,
                         ddp_error *err) DDP_MUST_CHECK;

/* Return the path of a folder BASE.<number> in directory that holds a file called name or, if name
 * is NULL, a pair. Of several, take the one with the highest number. Folders whose files are being
 * moved count, too. The caller frees the path. NULL: there is none, no memory, or directory cannot
 * be read. */
char *ddp_set_aside_last(const char *directory, const char *base, const char *name);

/* Move the files of `folder`, BASE.<number>, back to directory, and remove the folder if it is then
 * empty. First the files that base has in directory are set aside. A pair stays in the folder if
 * another base has files of its name in directory. *moved becomes 1 if a file came back. Fails with
 * DDP_ERR_IO, DDP_ERR_NOMEM; ddp_set_aside_recover then puts the files together. */
ddp_status ddp_set_aside_undo(int *moved, const char *folder, const char *directory,
                              const char *base, ddp_error *err) DDP_MUST_CHECK;

/* If a move of base's files was interrupted, out or back, move them back to directory. *moved
 * becomes 1 if a file came back. Call when the name is owned (name_lock.h), before its files are
 * read. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_set_aside_recover(int *moved, const char *directory, const char *base,
                                 ddp_error *err) DDP_MUST_CHECK;

#endif
