/* Writes corrected label files, for people to review, for the pictures on the page of `darknet ddp
 * suspects`: labels that the page calls wrong or missing are put right. */
#include "base/plural.h"
#include "predict/out_names.h"
#include "predict/suspects.h"
#include "predict/truths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The labels of a picture, while suspects are put right. */
struct labels {
    ddp_truth truths[DDP_TRUTHS_MOST];
    int lines[DDP_TRUTHS_MOST];
    size_t count;
};

static void put_label(FILE *f, const ddp_truth *t)
{
    double left = t->box.left < 0 ? 0 : t->box.left, top = t->box.top < 0 ? 0 : t->box.top;
    double right = t->box.left + t->box.width, bottom = t->box.top + t->box.height;

    right = right > 1 ? 1 : right;
    bottom = bottom > 1 ? 1 : bottom;
    if (right > left && bottom > top)
        (void)fprintf(f, "%d %.6f %.6f %.6f %.6f\n", t->class_id, (left + right) / 2,
                      (top + bottom) / 2, right - left, bottom - top);
}

/* Put one suspect right: take a label out, change its class or its box, or add one. */
static void mend(struct labels *l, const ddp_suspect *s)
{
    int line = s->kind == DDP_SUSPECT_TWICE ? s->other.line : s->label.line;
    size_t i = 0;

    while (i < l->count && (line == 0 || l->lines[i] != line))
        i++;
    if (s->kind == DDP_SUSPECT_MISSING && l->count < DDP_TRUTHS_MOST) {
        l->lines[l->count] = 0;
        l->truths[l->count++] = s->other.truth;
    }
    if (i == l->count || s->kind == DDP_SUSPECT_MISSING)
        return;
    if (s->kind == DDP_SUSPECT_CLASS)
        l->truths[i].class_id = s->other.truth.class_id;
    else if (s->kind == DDP_SUSPECT_PLACE)
        l->truths[i].box = s->other.truth.box;
    else
        l->truths[i].box = (ddp_box){0}; /* is not written */
}

static ddp_status write_picture(const ddp_suspect_list *all, const ddp_out_names *names,
                                uint32_t picture, struct labels *l, ddp_error *err)
{
    const char *path = all->config->paths[picture];
    char name[DDP_OUT_NAME], file[DDP_OUT_NAME + 8];
    FILE *f;

    l->count = ddp_truths_read(l->truths, l->lines, path, all->config->classes);
    for (size_t i = 0; i < all->shown_count; i++)
        if (all->ranking.list[all->shown[i]].picture == picture)
            mend(l, &all->ranking.list[all->shown[i]]);
    ddp_out_name(names, path, picture, name);
    (void)snprintf(file, sizeof file, "%s.txt", name);
    f = fopen(file, "wxe");
    for (size_t i = 0; f && i < l->count; i++)
        put_label(f, &l->truths[i]);
    if (!f || (ferror(f) | fclose(f)))
        return ddp_fail(err, DDP_ERR_IO, "-out: cannot write %.900s: %s", file, strerror(errno));
    return DDP_OK;
}

ddp_status ddp_suspects_write_labels(const ddp_suspect_list *all, const char *folder,
                                     ddp_error *err)
{
    struct labels *l = malloc(sizeof *l);
    ddp_out_names names = {0};
    ddp_status st = l ? DDP_OK : ddp_fail(err, DDP_ERR_NOMEM, "no memory for labels");
    size_t written = 0;

    if (!st)
        st = ddp_out_names_open(&names, all->config, folder, err);
    for (size_t i = 0; !st && i < all->shown_count; i++) {
        uint32_t picture = all->ranking.list[all->shown[i]].picture;
        size_t first = 0;

        while (all->ranking.list[all->shown[first]].picture != picture)
            first++;
        if (first < i)
            continue;
        st = write_picture(all, &names, picture, l, err);
        written++;
    }
    if (!st)
        printf("%s has %zu label file%s to review\n", folder, written, ddp_plural(written));
    ddp_out_names_close(&names);
    free(l);
    return st;
}
