/* base/pages.h: memory that is not needed for now. */
#ifndef DDP_BASE_PAGES_H
#define DDP_BASE_PAGES_H

#include <stddef.h>

/* x[0..bytes) of malloc's memory becomes zero, and the whole pages in it go back to the system
 * until they are written to again. */
void ddp_pages_clear(void *x, size_t bytes);

#endif
