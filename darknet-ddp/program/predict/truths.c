#include "predict/truths.h"

#include "check/label.h"
#include "samples/transforms.h"

struct reading {
    ddp_truth *truths;
    int *lines;
    size_t count;
};

static void add(void *ctx, const ddp_label_box *box)
{
    struct reading *r = ctx;

    if (r->count == DDP_TRUTHS_MOST)
        return;
    if (r->lines)
        r->lines[r->count] = box->line;
    r->truths[r->count++] = (ddp_truth){.class_id = box->class_id,
                                        .box = {.left = (double)box->x - (double)box->w / 2,
                                                .top = (double)box->y - (double)box->h / 2,
                                                .width = (double)box->w,
                                                .height = (double)box->h}};
}

size_t ddp_truths_read(ddp_truth truths[DDP_TRUTHS_MOST], int lines[DDP_TRUTHS_MOST],
                       const char *path, int classes)
{
    const ddp_label_rules rules = {.classes = classes};
    struct reading r = {.truths = truths, .lines = lines};
    char labels[DDP_LABEL_PATH_BYTES];
    ddp_faults faults = {0};
    ddp_label_file kind;

    ddp_label_path(path, labels);
    (void)ddp_check_label(&faults, labels, &rules, &kind, add, &r);
    ddp_faults_release(&faults);
    return r.count;
}
