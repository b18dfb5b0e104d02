#include "show/page_file.h"

#include "base/clock.h"
#include "show/run_messages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int64_t every_ns = 10000000000; /* at least; else 1000 times what a write takes */

ddp_status ddp_page_file_init(ddp_page_file *f, const char *path, ddp_error *err)
{
    *f = (ddp_page_file){.path = path, .due_ns = ddp_clock_ns()};
    if (asprintf(&f->part_path, "%s.part", path) >= 0)
        return DDP_OK;
    f->part_path = NULL;
    return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the names of files");
}

void ddp_page_file_release(ddp_page_file *f)
{
    free(f->part_path);
}

int ddp_page_file_is_due(const ddp_page_file *f, int64_t now_ns)
{
    return now_ns >= f->due_ns;
}

/* Write the page to part_path. Returns why it failed, or NULL. */
static const char *write_part(const ddp_page_file *f, const ddp_page_model *page)
{
    FILE *out = fopen(f->part_path, "we");
    int whole;

    if (!out)
        return strerror(errno);
    whole = ddp_page_model_write(out, page) && !ferror(out);
    if (fclose(out) || !whole)
        return errno ? strerror(errno) : "no memory";
    return NULL;
}

void ddp_page_file_write(ddp_page_file *f, const ddp_page_model *page)
{
    int64_t began = ddp_clock_ns(), took;
    const char *why;

    errno = 0;
    why = write_part(f, page);
    if (!why && rename(f->part_path, f->path))
        why = strerror(errno);
    if (why) {
        if (!f->failed)
            ddp_print_goes_on("cannot write %s: %s", f->path, why);
        f->failed = 1;
        (void)unlink(f->part_path);
    }
    took = ddp_clock_ns() - began;
    f->due_ns = began + (1000 * took > every_ns ? 1000 * took : every_ns);
}
