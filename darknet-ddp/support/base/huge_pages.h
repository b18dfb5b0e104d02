/* base/huge_pages.h: large arrays on huge pages, and pages that are given back while they are not
 * needed. */
#ifndef DDP_BASE_HUGE_PAGES_H
#define DDP_BASE_HUGE_PAGES_H

#include <stddef.h>

/* Zeroed memory, 4096 bytes aligned at least, for free(). From 2 MiB on the system is asked for
 * huge pages: passes over it wait for fewer addresses to be translated. NULL where there is no
 * memory. */
void *ddp_pages_alloc(size_t bytes);

/* x[0..bytes) of malloc's memory becomes zero, and the whole pages in it go back to the system
 * until they are written to again. */
void ddp_pages_clear(void *x, size_t bytes);

#endif
