/* base/huge_pages.h: allocates large arrays, on huge pages if the system has them, and gives pages
 * back to it while they are not needed. */
#ifndef DDP_BASE_HUGE_PAGES_H
#define DDP_BASE_HUGE_PAGES_H

#include <stddef.h>

/* Allocate zeroed memory, aligned to 4096 bytes at least; free it with free(). From 2 MiB on, asks
 * the system for huge pages, whose addresses are translated faster. Returns NULL if there is no
 * memory. */
void *ddp_pages_alloc(size_t bytes);

/* Set x[0..bytes), memory of malloc, to zero. Gives the whole pages in it back to the system until
 * they are written again; locked pages stay. */
void ddp_pages_clear(void *x, size_t bytes);

#endif
