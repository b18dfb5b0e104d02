/* The sink that writes a label file for each readable picture (-save_labels). Networks can be
 * trained from it, and people can correct it. A label file that is there stays. */
#include "base/plural.h"
#include "predict/sinks.h"
#include "samples/transforms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct labels {
    size_t written, kept;
};

/* Write a line for each box, whose sides are cut off at the picture's: training takes no others. */
static void put_boxes(FILE *f, const ddp_prediction *p)
{
    for (size_t i = 0; i < p->count; i++) {
        const ddp_box *b = &p->found[i].box;
        double left = b->left < 0 ? 0 : b->left, top = b->top < 0 ? 0 : b->top;
        double right = b->left + b->width, bottom = b->top + b->height;

        right = right > 1 ? 1 : right;
        bottom = bottom > 1 ? 1 : bottom;
        if (right > left && bottom > top)
            (void)fprintf(f, "%d %.6f %.6f %.6f %.6f\n", p->found[i].class_id, (left + right) / 2,
                          (top + bottom) / 2, right - left, bottom - top);
    }
}

static ddp_status take(void *ctx, ddp_prediction *p, ddp_error *err)
{
    struct labels *l = ctx;
    char path[DDP_LABEL_PATH_BYTES];
    FILE *f;
    int fd;

    if (p->why[0] || p->is_frame)
        return DDP_OK;
    ddp_label_path(p->path, path);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST) {
        l->kept++;
        return DDP_OK;
    }
    f = fd < 0 ? NULL : fdopen(fd, "w");
    if (f)
        put_boxes(f, p);
    if (!f || (ferror(f) | fclose(f))) {
        (void)ddp_fail(err, DDP_ERR_IO, "-save_labels: cannot write %.900s: %s", path,
                       strerror(errno));
        if (fd >= 0)
            (void)unlink(path); /* or a second run would keep a part of the boxes */
        return err->code;
    }
    l->written++;
    return DDP_OK;
}

static ddp_status close_labels(void *ctx, ddp_error *err)
{
    struct labels *l = ctx;

    (void)err;
    printf("-save_labels: wrote %zu label file%s", l->written, ddp_plural(l->written));
    if (l->kept > 0)
        printf("; %zu that %s there %s left as %s", l->kept, l->kept == 1 ? "was" : "were",
               l->kept == 1 ? "is" : "are", l->kept == 1 ? "it is" : "they are");
    (void)putchar('\n');
    free(l);
    return DDP_OK;
}

ddp_status ddp_label_sink_open(ddp_sink *s, const ddp_sink_config *config, ddp_error *err)
{
    struct labels *l = calloc(1, sizeof *l);

    (void)config;
    if (!l)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for labels");
    *s = (ddp_sink){.ctx = l, .take = take, .close = close_labels};
    return DDP_OK;
}
