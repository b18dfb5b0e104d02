#include "glue/validate_share.h"

#include "comm/collectives.h"

#include <darknet.h>
#include <math.h>
#include <stdlib.h>

/* The figures of one picture; all 0 if it cannot be read. All pictures' figures are summed in the
 * order of pictures, whichever ranks had them. */
struct hit {
    double loss;
    int32_t is_there, top1, topk;
};

struct hits {
    struct hit *all;
    const int *class_of; /* of each picture of the list */
    int top;
};

static struct hit judge(const float *prediction, int classes, int class_id, int top)
{
    int better = 0;
    float own = prediction[class_id];

    for (int c = 0; c < classes; c++)
        better += prediction[c] > own || (prediction[c] == own && c < class_id);
    return (struct hit){.loss = -log(fmax((double)own, 1e-12)),
                        .is_there = 1,
                        .top1 = better == 0,
                        .topk = better < top};
}

static image crop_centre(network *net, image whole)
{
    return center_crop_image(whole, net->w, net->h);
}

static void measure_class(void *ctx, const ddp_picture_share *s, inference_plan *plan, size_t i,
                          ddp_picture *picture)
{
    struct hits *hits = ctx;
    network *net = s->net;
    float *prediction = inference_predict(plan, net, picture->fitted.data);

    if (net->hierarchy)
        hierarchy_predictions(prediction, net->outputs, net->hierarchy, 1, 1);
    hits->all[i / (size_t)ddp_group_size(s->group)] =
        judge(prediction, s->set->classes, hits->class_of[i], hits->top);
}

static void add_up(ddp_accuracy *out, const struct hit *all, size_t share, size_t size,
                   size_t pictures)
{
    *out = (ddp_accuracy){0};
    for (size_t i = 0; i < pictures; i++) {
        const struct hit *h = &all[i % size * share + i / size];

        out->pictures += (size_t)h->is_there;
        out->loss += h->loss;
        out->top1 += h->top1;
        out->topk += h->topk;
    }
    if (out->pictures == 0)
        return;
    out->loss /= (double)out->pictures;
    out->top1 /= (double)out->pictures;
    out->topk /= (double)out->pictures;
}

ddp_status ddp_validate_classifier(ddp_accuracy *out, size_t *unreadable, ddp_group *group,
                                   network *net, const ddp_validation_set *set, const int *class_of,
                                   int top, const ddp_validation_listener *listener, ddp_error *err)
{
    size_t size = (size_t)ddp_group_size(group), count = (set->count + size - 1) / size;
    struct hits own = {calloc(count + 1, sizeof *own.all), class_of, top};
    struct hit *all = NULL;
    const ddp_picture_share share = {group, net, set, listener, crop_centre, measure_class, &own};
    ddp_status st = DDP_OK;

    if (!own.all)
        st = ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu results", count);
    else if (set->classes > net->outputs)
        st = ddp_fail(err, DDP_ERR_USAGE, "%d classes, and a network with %d outputs", set->classes,
                      net->outputs);
    if (!st) {
        (void)ddp_picture_share_measure(&share);
        all = ddp_allgather_new(group, own.all, count * sizeof *all, err);
        st = all ? DDP_OK : err->code;
    }
    if (!st) {
        add_up(out, all, count, size, set->count);
        *unreadable = set->count - out->pictures;
    }
    free(own.all);
    free(all);
    return st;
}
