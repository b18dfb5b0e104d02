/* base/text.h: words of sentences. */
#ifndef DDP_BASE_TEXT_H
#define DDP_BASE_TEXT_H

#include <stddef.h>

/* "s" or nothing, behind a count and a noun. */
static inline const char *ddp_plural(size_t count)
{
    return count == 1 ? "" : "s";
}

#endif
