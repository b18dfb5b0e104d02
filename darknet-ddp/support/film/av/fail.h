/* film/av/fail.h: errors of libav as sentences. */
#ifndef DDP_FILM_AV_FAIL_H
#define DDP_FILM_AV_FAIL_H

#include "base/status.h"

/* Fail with DDP_ERR_IO and a sentence: "`what` `path`: ", and what the code of libav means. */
ddp_status ddp_film_fail(ddp_error *err, const char *what, const char *path, int code);

#endif
