/* inputs/access.h: can a file be read, can a folder be written in, and if not, why? Before anything
 * is started, made or written. */
#ifndef DDP_INPUTS_ACCESS_H
#define DDP_INPUTS_ACCESS_H

#include "base/status.h"

/* what: who names the path, for the error: "x.data:2: train=a.list". A path that begins with cfg/
 * or data/ may be one that was installed. DDP_ERR_IO: "WHAT: cannot be read in FOLDER: CAUSE". */
ddp_status ddp_access_read(const char *what, const char *path, ddp_error *err) DDP_MUST_CHECK;

/* Can files be made in the folder, which may be one that is still to be made? Nothing is made.
 * DDP_ERR_IO: "WHAT: CAUSE". */
ddp_status ddp_access_write(const char *what, const char *folder, ddp_error *err) DDP_MUST_CHECK;

/* Can this file be written, which may be there? Nothing is made. Fails as ddp_access_write. */
ddp_status ddp_access_write_file(const char *what, const char *path, ddp_error *err) DDP_MUST_CHECK;

#endif
