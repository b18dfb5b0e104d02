/* show/page_file.h: writes NAME.html, the page of a run, to the disk. Readers always see a whole
 * page. It is written so seldom that it costs little. A failure is reported once. */
#ifndef DDP_SHOW_PAGE_FILE_H
#define DDP_SHOW_PAGE_FILE_H

#include "base/status.h"
#include "show/page_model.h"

#include <stdint.h>

typedef struct ddp_page_file {
    const char *path;
    char *part_path; /* path of a page that is not whole yet */
    int64_t due_ns;  /* time at which to write the page again (ddp_clock_ns) */
    int failed;      /* 1: a write has failed, and a line has said so */
} ddp_page_file;

/* Prepare to write a page at path; it is due at once. path must outlive *f. Release *f, also on
 * failure. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_page_file_init(ddp_page_file *f, const char *path, ddp_error *err) DDP_MUST_CHECK;
void ddp_page_file_release(ddp_page_file *f); /* frees part_path; *f may be all zero */

/* Return 1 if at now_ns (ddp_clock_ns) it is time to write the page. That is at once before the
 * first write. Later it is when 10 s have passed since the last write began, and also 1,000 times
 * as long as that took. */
int ddp_page_file_is_due(const ddp_page_file *f, int64_t now_ns);

/* Write the page anew. If that fails for the first time, a line on standard error says so. */
void ddp_page_file_write(ddp_page_file *f, const ddp_page_model *page);

#endif
