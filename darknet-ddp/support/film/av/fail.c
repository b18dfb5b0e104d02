#include "film/av/fail.h"

#include <libavutil/error.h>

ddp_status ddp_film_fail(ddp_error *err, const char *what, const char *path, int code)
{
    char text[AV_ERROR_MAX_STRING_SIZE] = "";

    (void)av_strerror(code, text, sizeof text);
    return ddp_fail(err, DDP_ERR_IO, "%s %.500s: %s", what, path, text);
}
