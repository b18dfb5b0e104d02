/* base/huge_pages.h: large arrays on huge pages, and pages that are given back to the system while
 * they are not needed. */
#ifndef DDP_BASE_HUGE_PAGES_H
#define DDP_BASE_HUGE_PAGES_H

#include <stddef.h>

/* Allocate zeroed memory, aligned to 4096 bytes at least; free it with free(). From 2 MiB on the
 * system is asked for huge pages: passes over them wait for fewer address translations. Returns
 * NULL if there is no memory. */
void *ddp_pages_alloc(size_t bytes);

/* Set x[0..bytes) of malloc's memory to zero. The whole pages in it go back to the system until
 * they are written again. */
void ddp_pages_clear(void *x, size_t bytes);

#endif
