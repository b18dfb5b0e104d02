#include "inputs/anchor_fit.h"

#include "samples/anchors.h"

/* A share of IoU. Nothing follows from the boxes of a few pictures. */
static const double worth_it = .05;
enum { FEW_PICTURES = 20 };

int ddp_anchor_fit_find(ddp_anchor_fit *out, const ddp_scan_data *c)
{
    int k = c->heads.anchor_count, count = (int)c->sample.count;
    const int input[2] = {c->heads.width, c->heads.height};

    *out = (ddp_anchor_fit){0};
    if (k == 0 || count < k || c->heads.width < 1 || c->heads.height < 1)
        return 0;
    out->cfgs_iou = c->tally.anchored ? c->tally.anchor_iou / (double)c->tally.anchored : 0;
    out->count = k;
    out->sampled = c->sample.level > 0 ? c->sample.count : 0;
    out->iou = ddp_anchors_find(c->sample.sizes, count, k, input, out->anchors);
    return out->iou > out->cfgs_iou + worth_it && c->tally.pictures >= FEW_PICTURES;
}
