/* inputs/access.h: checks whether a file can be read, or a folder written in, before anything is
 * started. Nothing is created here. */
#ifndef DDP_INPUTS_ACCESS_H
#define DDP_INPUTS_ACCESS_H

#include "base/status.h"

/* Fail with DDP_ERR_IO ("WHAT: cannot be read in FOLDER: CAUSE") if the file at path cannot be
 * read. `what` says for the error who names the path: "x.data:2: train=a.list". A path that begins
 * with cfg/ or data/ may be one that was installed. */
ddp_status ddp_access_read(const char *what, const char *path, ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_IO ("WHAT: CAUSE") if no file can be made in the folder. A folder that is not
 * there counts if it can be made. */
ddp_status ddp_access_write(const char *what, const char *folder, ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_IO ("WHAT: CAUSE") if the file at path, which may be there, cannot be
 * written. */
ddp_status ddp_access_write_file(const char *what, const char *path, ddp_error *err) DDP_MUST_CHECK;

#endif
