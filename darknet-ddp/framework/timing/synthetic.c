#include "timing/synthetic.h"

#include "base/random.h"

#include <darknet.h>
#include <string.h>

enum { BOXES = 3 };

static int random_class(ddp_random *r, int classes)
{
    return classes > 0 ? (int)(ddp_random_next(r) % (unsigned)classes) : 0;
}

/* Draw a box inside the image, as fractions of it: centre x and y, width, height. */
static void random_box(ddp_random *r, float *box)
{
    for (int i = 0; i < 2; i++) {
        box[i] = 0.3F + 0.4F * ddp_random_unit(r);
        box[2 + i] = 0.1F + 0.4F * ddp_random_unit(r);
    }
}

/* Return how many classes a label can have: a map, ended by -1, gives each its own class. */
static int label_classes(layer l)
{
    int count = 0;

    if (!l.map)
        return l.classes;
    while (l.map[count] >= 0)
        count++;
    return count;
}

/* Fill in labels of [yolo] and [region]: boxes with a class behind each, then zeros. */
static void fill_boxes(layer l, int coords, float *truth, ddp_random *r)
{
    for (int i = 0; i < BOXES; i++) {
        float *box = truth + i * (coords + 1);

        random_box(r, box);
        box[coords] = (float)random_class(r, label_classes(l));
    }
}

/* Fill in labels of [detection]: each cell of the grid says whether an object is there, its class
 * as one of `classes` numbers, and its box. */
static void fill_grid(layer l, float *truth, ddp_random *r)
{
    for (int i = 0; i < BOXES; i++) {
        int cell = (int)(ddp_random_next(r) % (unsigned)(l.side * l.side));
        float *at = truth + cell * (1 + l.coords + l.classes);

        memset(at, 0, (size_t)(1 + l.coords + l.classes) * sizeof *at);
        at[0] = 1;
        at[1 + random_class(r, l.classes)] = 1;
        random_box(r, at + 1 + l.classes);
    }
}

/* Fill in labels of [iseg]: a class and its pixels for each object, then a class below 0. */
static void fill_masks(layer l, float *truth, ddp_random *r)
{
    int pixels = l.w * l.h;

    truth[0] = (float)random_class(r, l.classes);
    for (int i = 0; i < pixels; i++)
        truth[1 + i] = ddp_random_unit(r) > 0.7F ? 1 : 0;
    truth[pixels + 1] = -1;
}

static void fill_truth(const network *net, float *truth, ddp_random *r)
{
    layer l = net->layers[net->n - 1];

    memset(truth, 0, (size_t)net->truths * sizeof *truth);
    switch (l.type) {
    case YOLO:
        fill_boxes(l, 4, truth, r);
        break;
    case REGION:
        fill_boxes(l, l.coords, truth, r);
        break;
    case DETECTION:
        fill_grid(l, truth, r);
        break;
    case ISEG:
        fill_masks(l, truth, r);
        break;
    default:
        truth[random_class(r, net->truths)] = 1;
        break;
    }
}

void ddp_synthetic_fill(network *net, uint64_t seed, uint64_t first)
{
    for (int k = 0; k < net->batch; k++) {
        float *input = net->input + (size_t)k * (size_t)net->inputs;
        ddp_random r;

        ddp_random_init(&r, seed, ddp_random_topic(DDP_PURPOSE_SYNTHETIC, 0), first + (uint64_t)k);
        for (int i = 0; i < net->inputs; i++)
            input[i] = ddp_random_unit(&r);
        if (net->truth)
            fill_truth(net, net->truth + (size_t)k * (size_t)net->truths, &r);
    }
}
