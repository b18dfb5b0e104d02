#include "cli/finished.h"

#include "glue/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* NULL: no run has begun. */
static char *marker;

void ddp_finished_begin(const char *directory, const char *cfg)
{
    char *name = ddp_checkpoint_base(cfg);
    char *path = NULL;

    if (!name || asprintf(&path, "%s/%s.finished", directory, name) < 0)
        path = NULL;
    free(name);
    free(marker);
    marker = path;
    if (marker && unlink(marker) && errno != ENOENT)
        (void)fprintf(stderr, "darknet: cannot remove %s: %s\n", marker, strerror(errno));
}

void ddp_finished_write(void)
{
    FILE *f = marker ? fopen(marker, "w") : NULL;

    if (marker && (!f || fclose(f)))
        (void)fprintf(stderr, "darknet: cannot write %s: %s\n", marker, strerror(errno));
    free(marker);
    marker = NULL;
}
