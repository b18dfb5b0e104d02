/* checkpoint/set_aside.h: an earlier run's files, out of the way of a new run of the same name.
 *
 * DIRECTORY/BASE.1/, BASE.2/ and so on hold one run's files each, under the names that they had:
 * its pairs, CSV file, page, log and what else it left as BASE.<ending>. The highest number is the
 * run that was set aside last. Files are renamed within one file system, and never removed.
 *
 * While files are on their way, out or back, their folder is named BASE.<number>.moving. A process
 * that dies then leaves a run's files at two places; ddp_set_aside_recover puts them together.
 */
#ifndef DDP_CHECKPOINT_SET_ASIDE_H
#define DDP_CHECKPOINT_SET_ASIDE_H

#include "base/status.h"

/* Set aside what a run of base has left in directory, if it has saved weights or rows of figures.
 * spare: a weights file that the new run began with; where it is one of these files it stays in its
 * place, too, as a second name of the same file (NULL: none). *folder: where they are now, which
 * the caller frees; NULL: there was nothing. Fails with DDP_ERR_IO, which leaves all files where
 * they were, and with DDP_ERR_NOMEM. */
ddp_status ddp_set_aside(char **folder, const char *directory, const char *base, const char *spare,
                         ddp_error *err) DDP_MUST_CHECK;

/* Returns 0: no other folder is wanted. */
typedef int (*ddp_set_aside_visit)(void *ctx, const char *folder);

/* Visit the folders that hold a file of this name, or with name NULL a pair, the highest number
 * first. One of them may be one whose files are on their way. Without memory some are left out. */
void ddp_set_aside_each(const char *directory, const char *base, const char *name,
                        ddp_set_aside_visit visit, void *ctx);

/* The first of them; NULL: there is none, or no memory. The caller frees it. */
char *ddp_set_aside_last(const char *directory, const char *base, const char *name);

/* The files of that folder back to their places, and the folder removed. What this base has in
 * their places is set aside first; a pair in whose place another base's lies stays in the folder.
 * *came: some came. Fails as ddp_set_aside, but what has come then is put with the rest by
 * ddp_set_aside_recover. */
ddp_status ddp_set_aside_undo(int *came, const char *folder, const char *directory,
                              const char *base, ddp_error *err) DDP_MUST_CHECK;

/* Of whoever owns the name, before anything of it is read: the files of a move that was cut off, in
 * either direction, go back to their places, as above. *came is 1, if some did. Fails as
 * ddp_set_aside_undo. */
ddp_status ddp_set_aside_recover(int *came, const char *directory, const char *base,
                                 ddp_error *err) DDP_MUST_CHECK;

#endif
