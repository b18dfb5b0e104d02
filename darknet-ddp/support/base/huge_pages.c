#include "base/huge_pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, HUGE_PAGE = 2 << 20 };

void *ddp_pages_alloc(size_t bytes)
{
    size_t page = bytes < HUGE_PAGE ? PAGE : HUGE_PAGE;
    size_t rounded = bytes > 0 ? (bytes + page - 1) / page * page : page;
    void *x = rounded < bytes ? NULL : aligned_alloc(page, rounded);

    if (!x)
        return NULL;
    if (page == HUGE_PAGE)
        (void)madvise(x, rounded, MADV_HUGEPAGE); /* advice: small pages will do */
    return memset(x, 0, rounded);
}

void ddp_pages_clear(void *x, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)x, end = begin + bytes;
    uintptr_t first = (begin + page - 1) / page * page, last = end / page * page;
    char *inside = (char *)x + (first - begin);

    /* Locked memory stays where it is, and is cleared by hand. */
    if (first >= last || madvise(inside, last - first, MADV_DONTNEED)) {
        memset(x, 0, bytes);
        return;
    }
    memset(x, 0, first - begin);
    memset((char *)x + (last - begin), 0, end - last);
}
