/* inputs/access.h: checks before a run whether it will be able to read or write a file, or to
 * write to a folder. Nothing is created. */
#ifndef DDP_INPUTS_ACCESS_H
#define DDP_INPUTS_ACCESS_H

#include "base/status.h"

/* Fail with DDP_ERR_IO ("WHAT: cannot be read in FOLDER: CAUSE") if the file at path cannot be
 * read. A path that begins with cfg/ or data/ may also be an installed file's. what: words that
 * name the path: "x.data:2: train=a.list". */
ddp_status ddp_access_read(const char *what, const char *path, ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_IO ("WHAT: CAUSE") if no file can be made in the folder. A folder that does not
 * exist passes if it can be made. */
ddp_status ddp_access_write(const char *what, const char *folder, ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_IO ("WHAT: CAUSE") if the file at path, which may exist, cannot be written. */
ddp_status ddp_access_write_file(const char *what, const char *path, ddp_error *err) DDP_MUST_CHECK;

#endif
