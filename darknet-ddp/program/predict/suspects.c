#include "predict/suspects.h"

#include "samples/transforms.h"

void ddp_suspect_describe(const ddp_suspect_list *all, const ddp_suspect *s,
                          char text[DDP_SUSPECT_TEXT])
{
    const char *label = s->label.line ? all->config->names[s->label.truth.class_id] : "";
    const char *other = s->has_other ? all->config->names[s->other.truth.class_id] : "";

    if (s->kind == DDP_SUSPECT_TWICE)
        (void)snprintf(text, DDP_SUSPECT_TEXT, "%.100s and %.100s of line %d have an IoU of %.2f",
                       label, other, s->other.line,
                       ddp_box_iou(&s->label.truth.box, &s->other.truth.box));
    else if (s->kind == DDP_SUSPECT_MISSING)
        (void)snprintf(text, DDP_SUSPECT_TEXT, "%.100s %.2f is found where no label is", other,
                       s->score);
    else if (s->kind == DDP_SUSPECT_EXTRA && s->label.loss > 0)
        (void)snprintf(text, DDP_SUSPECT_TEXT, "%.100s was not learnt: its loss is %.2f", label,
                       s->label.loss);
    else if (s->kind == DDP_SUSPECT_EXTRA)
        (void)snprintf(text, DDP_SUSPECT_TEXT, "%.100s is not found", label);
    else
        (void)snprintf(text, DDP_SUSPECT_TEXT, "%.100s; %.100s %.2f is found with an IoU of %.2f",
                       label, other, s->score,
                       ddp_box_iou(&s->label.truth.box, &s->other.truth.box));
}

int ddp_suspects_warn(const ddp_suspect_list *all, char text[DDP_SUSPECT_TEXT])
{
    const ddp_suspects *r = &all->ranking;

    if (r->labels == 0 || 2 * r->found >= r->labels)
        return 0;
    (void)snprintf(text, DDP_SUSPECT_TEXT,
                   "a weak network: it finds %zu %% of the labels, so most of these suspects are "
                   "right labels; train longer first",
                   100 * r->found / r->labels);
    return 1;
}

void ddp_suspect_place(const ddp_suspect_list *all, const ddp_suspect *s,
                       char place[DDP_SUSPECT_WHERE])
{
    char path[DDP_LABEL_PATH_BYTES];

    ddp_label_path(all->config->paths[s->picture], path);
    if (s->label.line)
        (void)snprintf(place, DDP_SUSPECT_WHERE, "%s:%d", path, s->label.line);
    else
        (void)snprintf(place, DDP_SUSPECT_WHERE, "%s", path);
}
