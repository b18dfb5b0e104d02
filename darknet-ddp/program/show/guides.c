#include "show/guides.h"

#include "base/own_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ddp_guides_folder(char room[PATH_MAX])
{
    char program[PATH_MAX], beside[PATH_MAX + 64];

    (void)ddp_own_path(program);
    if (strrchr(program, '/'))
        *strrchr(program, '/') = '\0';
    (void)snprintf(beside, sizeof beside, "%s/../share/doc/darknet-ddp/darknet-ddp/docs", program);
    return realpath(beside, room) ? room : "darknet-ddp/docs";
}
