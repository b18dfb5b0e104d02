#include "check/label.h"

#include "text/line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    ddp_faults *f;
    const char *path;
    const ddp_label_rules *rules;
    int line;
    size_t rows;  /* lines with a box, good or not */
    size_t twice; /* boxes that an earlier line has, too */
    int pixels;   /* 1: it was said that numbers look like pixels */
};

/* Add a fault: numbers of this size are pixels, most likely with the corner in place of the centre,
 * or percentages. */
static void say_pixels(struct reading *r, const char *why)
{
    char size[64] = "the picture's width and height";

    if (r->rules->width > 1)
        (void)snprintf(size, sizeof size, "%d and %d", r->rules->width, r->rules->height);
    ddp_fault_add(
        r->f, DDP_FAULT_ERROR, "label-pixels", r->path, r->line,
        "%s: divide x and width, y and height by %s, percentages by 100 (x, y: the middle "
        "of the box)",
        why, size);
}

/* Read a line. Returns 1 if it has a good box. */
static int read_line(struct reading *r, char *text, ddp_label_box *box)
{
    ddp_label_line line;
    ddp_label_verdict verdict = ddp_label_line_read(&line, text, r->rules->classes);

    r->rows += verdict != DDP_LABEL_BLANK;
    if (line.kind && strcmp(line.kind, "label-pixels") == 0) {
        if (!r->pixels++)
            say_pixels(r, line.why);
    } else if (line.kind) {
        ddp_fault_add(r->f, verdict == DDP_LABEL_BOX ? DDP_FAULT_WARNING : DDP_FAULT_ERROR,
                      line.kind, r->path, r->line, "%s", line.why);
    }
    *box = line.box;
    box->line = r->line;
    return verdict == DDP_LABEL_BOX;
}

static int is_in(const ddp_label_box *boxes, size_t count, const ddp_label_box *box)
{
    for (size_t i = 0; i < count; i++)
        if (boxes[i].class_id == box->class_id && boxes[i].x == box->x && boxes[i].y == box->y
            && boxes[i].w == box->w && boxes[i].h == box->h)
            return 1;
    return 0;
}

static void check_count(const struct reading *r)
{
    if (r->twice > 0)
        ddp_fault_add(r->f, DDP_FAULT_WARNING, "label-twice", r->path, 0,
                      "%zu line%s twice: the same class and box", r->twice,
                      r->twice == 1 ? " stands" : "s stand");
    if (r->rules->most > 0 && r->rows > (size_t)r->rules->most)
        ddp_fault_add(r->f, DDP_FAULT_ERROR, "label-many", r->path, 0,
                      "%zu boxes, and training takes %d of a picture: put max=%zu into the last "
                      "section of the cfg",
                      r->rows, r->rules->most, r->rows);
}

size_t ddp_check_label(ddp_faults *f, const char *path, const ddp_label_rules *rules,
                       ddp_label_file *kind, void (*found)(void *ctx, const ddp_label_box *box),
                       void *ctx)
{
    enum { COMPARED = 256 };
    struct reading r = {.f = f, .path = path, .rules = rules};
    ddp_label_box box, seen[COMPARED];
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t size = 0, good = 0;
    ssize_t bytes;

    *kind = file ? DDP_LABEL_EMPTY : DDP_LABEL_NONE;
    if (!file) {
        if (errno != ENOENT || rules->missing_is_error)
            ddp_fault_add(f, DDP_FAULT_ERROR, "label-unreadable", path, 0, "cannot be read: %s",
                          strerror(errno));
        return 0;
    }
    while ((bytes = getline(&line, &size, file)) >= 0) {
        size_t mark = r.line++ == 0 ? ddp_byte_order_mark(line, (size_t)bytes) : 0;

        ddp_check_bom(f, path, mark > 0);
        if (memchr(line, 0, (size_t)bytes)) {
            ddp_fault_add(f, DDP_FAULT_ERROR, "label-zeros", path, r.line, "%s",
                          ddp_has_zeros(line, r.line == 1 ? (size_t)bytes : 0));
            *kind = DDP_LABEL_LINES;
            break;
        }
        if (!read_line(&r, line + mark, &box))
            continue;
        r.twice += (size_t)is_in(seen, good < COMPARED ? good : COMPARED, &box);
        if (good < COMPARED)
            seen[good] = box;
        good++;
        found(ctx, &box);
    }
    if (ferror(file))
        ddp_fault_add(f, DDP_FAULT_ERROR, "label-unreadable", path, 0, "cannot be read: %s",
                      strerror(errno));
    if (r.rows > 0)
        *kind = DDP_LABEL_LINES;
    check_count(&r);
    free(line);
    (void)fclose(file);
    return good;
}
