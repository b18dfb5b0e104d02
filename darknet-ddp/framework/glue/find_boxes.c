#include "glue/find_boxes.h"

#include <darknet.h>
#include <math.h>

/* Return the last layer that finds boxes; NULL: none does. */
static const layer *head_of(const network *net)
{
    for (int i = net->n - 1; i >= 0; i--) {
        LAYER_TYPE type = net->layers[i].type;

        if (type == YOLO || type == REGION || type == DETECTION)
            return &net->layers[i];
    }
    return NULL;
}

int ddp_find_classes(const network *net)
{
    const layer *head = head_of(net);

    return head ? head->classes : 0;
}

/* exp overflows where training has gone wrong. */
static int is_finite(const box *b)
{
    return isfinite(b->x) && isfinite(b->y) && isfinite(b->w) && isfinite(b->h);
}

static ddp_detection detection_of(const detection *d, int class_id)
{
    return (ddp_detection){.class_id = class_id,
                           .score = (double)d->prob[class_id],
                           .box = {.left = (double)d->bbox.x - (double)d->bbox.w / 2,
                                   .top = (double)d->bbox.y - (double)d->bbox.h / 2,
                                   .width = (double)d->bbox.w,
                                   .height = (double)d->bbox.h}};
}

size_t ddp_find_boxes(network *net, int width, int height, const ddp_find_rules *rules,
                      void (*found)(void *ctx, const ddp_detection *d), void *ctx)
{
    /* [detection] gives boxes in pixels of a picture of the size that it is told. */
    int fractions = head_of(net)->type == DETECTION, count = 0;
    detection *dets = get_network_boxes(net, fractions ? 1 : width, fractions ? 1 : height,
                                        rules->least, rules->hierarchy, rules->map, 1, &count);
    size_t left_out = 0;

    if (rules->overlap > 0)
        suppress_boxes(net, dets, count, rules->classes, rules->overlap);
    for (int i = 0; i < count; i++)
        for (int c = 0; c < rules->classes; c++) {
            ddp_detection d = detection_of(&dets[i], c);

            if (!isfinite(dets[i].prob[c]) || (dets[i].prob[c] > 0 && !is_finite(&dets[i].bbox)))
                left_out++;
            else if (dets[i].prob[c] > 0)
                found(ctx, &d);
        }
    free_detections(dets, count);
    return left_out;
}
