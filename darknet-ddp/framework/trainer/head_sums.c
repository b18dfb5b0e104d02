#include "trainer/head_sums.h"

#include <darknet.h>

#include <math.h>
#include <string.h>

void ddp_head_sums_init(ddp_head_sums *s, const network *net)
{
    *s = (ddp_head_sums){.heads = ddp_network_heads(net)};
}

void ddp_head_sums_add_mini_batch(ddp_head_sums *s, int layer, const struct head_figures *figures)
{
    for (size_t i = 0; i < s->heads.count; i++)
        if (s->heads.layers[i] == layer) {
            s->sums[i].box += (double)figures->box_loss;
            s->sums[i].object += (double)figures->object_loss;
            s->sums[i].category += (double)figures->class_loss;
            s->sums[i].iou += (double)figures->iou;
            s->sums[i].boxes += figures->count;
        }
}

void ddp_head_sums_take_figures(ddp_head_sums *s, double images, ddp_head_figures *out)
{
    memset(out, 0, DDP_HEADS * sizeof *out);
    for (size_t i = 0; i < s->heads.count; i++)
        out[i] = (ddp_head_figures){.box = s->sums[i].box / images,
                                    .object = s->sums[i].object / images,
                                    .category = s->sums[i].category / images,
                                    .iou = s->sums[i].boxes ? s->sums[i].iou / s->sums[i].boxes
                                                            : (double)NAN};
    memset(s->sums, 0, sizeof s->sums);
}
