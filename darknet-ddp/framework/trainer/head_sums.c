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
            s->of[i].box += (double)figures->box_loss;
            s->of[i].object += (double)figures->object_loss;
            s->of[i].category += (double)figures->class_loss;
            s->of[i].iou += (double)figures->iou;
            s->of[i].boxes += figures->count;
        }
}

void ddp_head_sums_take_figures(ddp_head_sums *s, double images, ddp_head_figures *out)
{
    memset(out, 0, DDP_HEADS * sizeof *out);
    for (size_t i = 0; i < s->heads.count; i++)
        out[i] =
            (ddp_head_figures){.box = s->of[i].box / images,
                               .object = s->of[i].object / images,
                               .category = s->of[i].category / images,
                               .iou = s->of[i].boxes ? s->of[i].iou / s->of[i].boxes : (double)NAN};
    memset(s->of, 0, sizeof s->of);
}
