/* show/page_file.h: NAME.html on the disk: a reader always sees a whole page. It is written only as
 * often as costs little; that it cannot be written is said once. */
#ifndef DDP_SHOW_PAGE_FILE_H
#define DDP_SHOW_PAGE_FILE_H

#include "base/status.h"
#include "show/page_model.h"

#include <stdint.h>

typedef struct ddp_page_file {
    const char *path;
    char *part_path; /* which becomes the page once it is whole */
    int64_t due_ns;
    int failed; /* and it was said */
} ddp_page_file;

/* Due at once. path must outlive *f. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_page_file_init(ddp_page_file *f, const char *path, ddp_error *err) DDP_MUST_CHECK;
void ddp_page_file_release(ddp_page_file *f);

/* At ddp_clock_ns: is it time to write it again? That is after 10 s, or after a thousand times what
 * the last write took, where that is longer. */
int ddp_page_file_is_due(const ddp_page_file *f, int64_t now_ns);

void ddp_page_file_write(ddp_page_file *f, const ddp_page_model *page);

/* A file of the run cannot be written: on standard error. */
void ddp_say_unwritten(const char *path, const char *why);

#endif
