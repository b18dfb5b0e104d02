#include "eval/loss_file.h"

#include "base/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void ddp_loss_file_put_head(FILE *f)
{
    (void)fputs("# mean loss of a label while it was trained, times, line of the label file, "
                "picture\n",
                f);
}

void ddp_loss_file_put(FILE *f, const ddp_loss_line *line)
{
    (void)fprintf(f, "%.9g %" PRIu64 " %u %s\n", line->mean, line->count, line->line,
                  line->picture);
}

static int by_label(const void *a, const void *b)
{
    const ddp_loss_line *x = a, *y = b;
    int order = strcmp(x->picture, y->picture);

    return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* A line with more than that is damaged: MOST_LINES lines of a label file. */
enum { MOST_LOSS = 1000000, MOST_LINES = 1000000 };

/* Return 1 if text, which is cut at its end, is a line of a label. */
static int parse(ddp_loss_line *line, const char *text)
{
    int path = 0;

    if (sscanf(text, "%lf %" SCNu64 " %u %n", &line->mean, &line->count, &line->line, &path) < 3)
        return 0;
    line->picture = text + path;
    return path > 0 && line->picture[0] && line->mean > 0 && line->mean < MOST_LOSS
           && line->line > 0 && line->line <= MOST_LINES;
}

static ddp_status take_lines(ddp_loss_file *f, ddp_error *err)
{
    size_t most = 1;
    char *rest = f->text, *line;

    for (const char *c = rest; *c; c++)
        most += *c == '\n';
    f->lines = calloc(most, sizeof *f->lines);
    if (!f->lines)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the losses of labels");
    while ((line = strsep(&rest, "\n")) != NULL)
        f->count += (size_t)parse(&f->lines[f->count], line);
    qsort(f->lines, f->count, sizeof *f->lines, by_label);
    return DDP_OK;
}

ddp_status ddp_loss_file_read(ddp_loss_file *f, const char *path, ddp_error *err)
{
    struct stat s;
    size_t bytes;
    uint64_t size;

    *f = (ddp_loss_file){0};
    if (stat(path, &s))
        return DDP_OK;
    f->written = s.st_mtim;
    return ddp_file_read(path, SIZE_MAX, &f->text, &bytes, &size, err) ? err->code
                                                                       : take_lines(f, err);
}

static int by_picture(const void *a, const void *b)
{
    return strcmp(((const ddp_loss_line *)a)->picture, ((const ddp_loss_line *)b)->picture);
}

const ddp_loss_line *ddp_loss_file_of(const ddp_loss_file *f, const char *picture,
                                      const char *labels, size_t *count)
{
    const ddp_loss_line key = {.picture = picture}, *first = NULL;
    const ddp_loss_line *end = f->lines + f->count;

    *count = 0;
    if (f->count > 0)
        first = bsearch(&key, f->lines, f->count, sizeof key, by_picture);
    if (!first || ddp_file_is_younger(labels, &f->written))
        return NULL;
    while (first > f->lines && by_picture(first - 1, &key) == 0)
        first--;
    while (first + *count < end && by_picture(first + *count, &key) == 0)
        ++*count;
    return first;
}

void ddp_loss_file_release(ddp_loss_file *f)
{
    free(f->text);
    free(f->lines);
    *f = (ddp_loss_file){0};
}
