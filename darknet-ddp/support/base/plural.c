#include "base/plural.h"

#include <math.h>
#include <stdio.h>

void ddp_duration(double seconds, char *text, size_t size)
{
    if (seconds >= 48 * 3600.)
        (void)snprintf(text, size, "%.1f days", seconds / 86400);
    else if (seconds >= 5400)
        (void)snprintf(text, size, "%.1f hours", seconds / 3600);
    else if (seconds >= 90)
        (void)snprintf(text, size, "%.0f minutes", seconds / 60);
    else
        (void)snprintf(text, size, "%.0f second%s", seconds, rint(seconds) == 1 ? "" : "s");
}
