/* base/plural.h: plurals and durations for sentences. */
#ifndef DDP_BASE_PLURAL_H
#define DDP_BASE_PLURAL_H

#include <stddef.h>

/* Return the ending of a noun behind a count: "s", or "" for 1. */
static inline const char *ddp_plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* Write a duration to text, of size bytes: "3.2 days", "2.3 hours", "5 minutes" or "40 seconds". */
void ddp_duration(double seconds, char *text, size_t size);

#endif
