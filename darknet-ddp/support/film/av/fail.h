/* film/av/fail.h: errors of libav as sentences. */
#ifndef DDP_FILM_AV_FAIL_H
#define DDP_FILM_AV_FAIL_H

#include "base/status.h"

/* Fail with DDP_ERR_IO and the text "WHAT PATH: ", followed by libav's words for its error code. */
ddp_status ddp_film_fail(ddp_error *err, const char *what, const char *path, int code);

#endif
