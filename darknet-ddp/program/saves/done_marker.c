#include "saves/done_marker.h"

#include "glue/cfg.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Path of the file; NULL: there is no run. */
static char *marker;
static int begun;

void ddp_done_marker_open(const char *directory, const char *cfg)
{
    char *name = ddp_cfg_base(cfg);
    char *path = NULL;

    if (!name || asprintf(&path, "%s/%s.finished", directory, name) < 0)
        path = NULL;
    free(name);
    free(marker);
    marker = path;
}

int ddp_done_marker_is_in(const char *folder, const char *base)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/%s.finished", folder, base);
    return access(path, F_OK) == 0;
}

void ddp_done_marker_begin(void)
{
    if (!begun && marker && unlink(marker) && errno != ENOENT)
        (void)fprintf(stderr, "darknet: cannot remove %s: %s\n", marker, strerror(errno));
    begun = 1;
}

void ddp_done_marker_write(void)
{
    FILE *f = marker ? fopen(marker, "a") : NULL; /* one that is there stays as it is */

    if (marker && (!f || fclose(f)))
        (void)fprintf(stderr, "darknet: cannot write %s: %s\n", marker, strerror(errno));
    free(marker);
    marker = NULL;
}
