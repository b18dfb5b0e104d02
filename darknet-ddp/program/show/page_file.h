/* show/page_file.h: writes NAME.html to the disk. A reader always sees a whole page. It is written
 * so seldom that it costs little. A failure is reported once. */
#ifndef DDP_SHOW_PAGE_FILE_H
#define DDP_SHOW_PAGE_FILE_H

#include "base/status.h"
#include "show/page_model.h"

#include <stdint.h>

typedef struct ddp_page_file {
    const char *path;
    char *part_path; /* path of the file that becomes the page when it is whole */
    int64_t due_ns;  /* time at which to write the page again (ddp_clock_ns) */
    int failed;      /* 1: a write has failed, and a line has said so */
} ddp_page_file;

/* Prepare a page at path, due at once. path must outlive *f. Release *f, also on failure. Fails
 * with DDP_ERR_NOMEM. */
ddp_status ddp_page_file_init(ddp_page_file *f, const char *path, ddp_error *err) DDP_MUST_CHECK;
void ddp_page_file_release(ddp_page_file *f); /* frees part_path; *f may be all zero */

/* Return 1 if, at now_ns (ddp_clock_ns), it is time to write the page again. That is 10 s after the
 * last write began, or a thousand times as long as it took, if that is more. */
int ddp_page_file_is_due(const ddp_page_file *f, int64_t now_ns);

/* Write the page anew. The first time that it fails, a line on standard error says so; the run goes
 * on. */
void ddp_page_file_write(ddp_page_file *f, const ddp_page_model *page);

#endif
