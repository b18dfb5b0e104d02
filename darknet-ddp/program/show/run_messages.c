#include "show/run_messages.h"

#include <stdarg.h>
#include <stdio.h>

void ddp_print_kept(const char *path, const char *why, const char *to)
{
    printf("DDP: %s, %s, is kept as %s\n", path, why, to);
}

void ddp_print_goes_on(const char *fmt, ...)
{
    char what[1024];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    (void)fprintf(stderr, "darknet: %s; the run is not ended for it\n", what);
}
