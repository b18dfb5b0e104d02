#include "cli/cfg_templates.h"

#include <stdarg.h>
#include <string.h>

/* A cfg on its way out: layers are numbered as Darknet does. */
typedef struct writer {
    FILE *out;
    int classes;
    int next; /* number of the next layer */
    const char *activation;
    const char *anchors;
    int anchor_count;
    int random;       /* change the network's size while it trains */
    const char *loss; /* more lines of each [yolo] */
} writer;

static void __attribute__((format(printf, 3, 4)))
section(writer *w, const char *name, const char *format, ...)
{
    va_list values;

    (void)fprintf(w->out, "[%s]\n", name);
    va_start(values, format);
    (void)vfprintf(w->out, format, values);
    va_end(values);
    (void)fprintf(w->out, "\n");
    w->next++;
}

/* A convolution with BatchNorm; returns its number. */
static int conv(writer *w, int filters, int size, int stride)
{
    section(w, "convolutional",
            "batch_normalize=1\nfilters=%d\nsize=%d\nstride=%d\npad=1\nactivation=%s\n", filters,
            size, stride, w->activation);
    return w->next - 1;
}

/* Write count convolutions, narrow and wide ones in turns. */
static void convs(writer *w, int narrow, int count)
{
    for (int i = 0; i < count; i++)
        (void)conv(w, i % 2 ? 2 * narrow : narrow, i % 2 ? 3 : 1, 1);
}

static void route(writer *w, const char *layers)
{
    section(w, "route", "layers=%s\n", layers);
}

/* Write a route that puts the output of this layer beside that of the last one. */
static void route_with(writer *w, int layer)
{
    section(w, "route", "layers=-1,%d\n", layer);
}

static void maxpool(writer *w, int size, int stride)
{
    section(w, "maxpool", "size=%d\nstride=%d\n", size, stride);
}

static void upsample(writer *w)
{
    section(w, "upsample", "stride=2\n");
}

/* Blocks of a narrow and a wide convolution with a shortcut about them. */
static void residual(writer *w, int narrow, int wide, int blocks)
{
    for (int i = 0; i < blocks; i++) {
        (void)conv(w, narrow, 1, 1);
        (void)conv(w, wide, 3, 1);
        section(w, "shortcut", "from=-3\nactivation=linear\n");
    }
}

/* The last convolution and the layer that says what is there, for anchors of mask. */
static void head(writer *w, const char *mask, const char *own)
{
    section(w, "convolutional", "size=1\nstride=1\npad=1\nfilters=%d\nactivation=linear\n",
            3 * (w->classes + 5));
    section(w, "yolo",
            "mask=%s\nanchors=%s\nclasses=%d\nnum=%d\njitter=.3\nignore_thresh=.7\n"
            "truth_thresh=1\nrandom=%d\n%s%s",
            mask, w->anchors, w->classes, w->anchor_count, w->random, w->loss, own);
}

/* Write [net]. There are 2000 batches for each class, and at least 6000, as is usual. The rate
 * falls at 80 and 90% of them. */
static void net(writer *w, int side, double rate, double momentum, const char *more)
{
    int batches = w->classes * 2000 < 6000 ? 6000 : w->classes * 2000;

    if (w->classes > 250)
        batches = 500000;
    section(w, "net",
            "batch=64\nsubdivisions=16\nwidth=%d\nheight=%d\nchannels=3\nmomentum=%g\n"
            "decay=0.0005\nangle=0\nsaturation=1.5\nexposure=1.5\nhue=.1\nlearning_rate=%g\n"
            "burn_in=1000\nmax_batches=%d\npolicy=steps\nsteps=%d,%d\nscales=.1,.1\n%s",
            side, side, momentum, rate, batches, batches / 10 * 8, batches / 10 * 9, more);
    w->next = 0;
}

static const char small_anchors[] = "10,14, 23,27, 37,58, 81,82, 135,169, 344,319";

/* ---- YOLOv3 ---- */

static void yolov3_tiny(writer *w)
{
    int fork;
    int large;

    w->anchors = small_anchors;
    w->anchor_count = 6;
    w->activation = "leaky";
    net(w, 416, 0.001, 0.9, "");
    for (int filters = 16; filters < 256; filters *= 2) {
        (void)conv(w, filters, 3, 1);
        maxpool(w, 2, 2);
    }
    fork = conv(w, 256, 3, 1);
    maxpool(w, 2, 2);
    (void)conv(w, 512, 3, 1);
    maxpool(w, 2, 1);
    (void)conv(w, 1024, 3, 1);
    large = conv(w, 256, 1, 1);
    (void)conv(w, 512, 3, 1);
    head(w, "3,4,5", "");
    section(w, "route", "layers=%d\n", large);
    (void)conv(w, 128, 1, 1);
    upsample(w);
    route_with(w, fork);
    (void)conv(w, 256, 3, 1);
    head(w, "0,1,2", "");
}

/* Five convolutions, and a head behind a sixth. */
static void yolov3_head(writer *w, int narrow, const char *mask)
{
    convs(w, narrow, 6);
    head(w, mask, "");
    route(w, "-4");
}

static void yolov3(writer *w)
{
    int fork[5];
    static const int blocks[] = {1, 2, 8, 8, 4};

    w->anchors = "10,13, 16,30, 33,23, 30,61, 62,45, 59,119, 116,90, 156,198, 373,326";
    w->anchor_count = 9;
    w->random = 1;
    w->activation = "leaky";
    net(w, 416, 0.001, 0.9, "");
    (void)conv(w, 32, 3, 1);
    for (int i = 0; i < 5; i++) {
        (void)conv(w, 64 << i, 3, 2);
        residual(w, 32 << i, 64 << i, blocks[i]);
        fork[i] = w->next - 1;
    }
    yolov3_head(w, 512, "6,7,8");
    for (int i = 1; i >= 0; i--) {
        (void)conv(w, 128 << i, 1, 1);
        upsample(w);
        route_with(w, fork[2 + i]);
        if (i > 0)
            yolov3_head(w, 256, "3,4,5");
    }
    convs(w, 128, 6);
    head(w, "0,1,2", "");
}

/* ---- YOLOv4 ---- */

static void yolov4_tiny(writer *w)
{
    int fork = 0;

    w->anchors = small_anchors;
    w->anchor_count = 6;
    w->activation = "leaky";
    w->loss = "scale_x_y=1.05\ncls_normalizer=1.0\niou_normalizer=0.07\niou_loss=ciou\n"
              "nms_kind=greedynms\nbeta_nms=0.6\nresize=1.5\n";
    net(w, 416, 0.00261, 0.9, "");
    (void)conv(w, 32, 3, 2);
    (void)conv(w, 64, 3, 2);
    for (int filters = 64; filters <= 256; filters *= 2) {
        (void)conv(w, filters, 3, 1);
        section(w, "route", "layers=-1\ngroups=2\ngroup_id=1\n");
        (void)conv(w, filters / 2, 3, 1);
        (void)conv(w, filters / 2, 3, 1);
        route(w, "-1,-2");
        fork = conv(w, filters, 1, 1);
        route(w, "-6,-1");
        maxpool(w, 2, 2);
    }
    (void)conv(w, 512, 3, 1);
    (void)conv(w, 256, 1, 1);
    (void)conv(w, 512, 3, 1);
    head(w, "3,4,5", "");
    route(w, "-4");
    (void)conv(w, 128, 1, 1);
    upsample(w);
    route_with(w, fork);
    (void)conv(w, 256, 3, 1);
    head(w, "0,1,2", "");
}

/* Half of the channels go past the blocks; returns the number of its last layer. */
static int csp_stage(writer *w, int filters, int blocks)
{
    int half = filters == 64 ? filters : filters / 2;

    (void)conv(w, filters, 3, 2);
    (void)conv(w, half, 1, 1);
    route(w, "-2");
    (void)conv(w, half, 1, 1);
    residual(w, filters == 64 ? 32 : half, half, blocks);
    (void)conv(w, half, 1, 1);
    section(w, "route", "layers=-1,%d\n", -(3 * blocks + 4));
    return conv(w, filters, 1, 1);
}

/* Maxima about each pixel, of three sizes. */
static void pyramid_pool(writer *w)
{
    maxpool(w, 5, 1);
    route(w, "-2");
    maxpool(w, 9, 1);
    route(w, "-4");
    maxpool(w, 13, 1);
    route(w, "-1,-3,-5,-6");
}

/* Upsample, beside what the backbone had at that size; returns the number of its last layer. */
static int yolov4_up(writer *w, int narrow, int fork)
{
    (void)conv(w, narrow, 1, 1);
    upsample(w);
    section(w, "route", "layers=%d\n", fork);
    (void)conv(w, narrow, 1, 1);
    route(w, "-1,-3");
    convs(w, narrow, 5);
    return w->next - 1;
}

/* Half the size again, beside what was there before. */
static void yolov4_down(writer *w, int narrow, int before)
{
    route(w, "-4");
    (void)conv(w, narrow, 3, 2);
    route_with(w, before);
    convs(w, narrow, 6);
}

static void yolov4(writer *w)
{
    static const int blocks[] = {1, 2, 8, 8, 4};
    int fork[5];
    int deep;
    int middle;

    w->anchors = "12,16, 19,36, 40,28, 36,75, 76,55, 72,146, 142,110, 192,243, 459,401";
    w->anchor_count = 9;
    w->random = 1;
    w->loss = "iou_thresh=0.213\ncls_normalizer=1.0\niou_normalizer=0.07\niou_loss=ciou\n"
              "nms_kind=greedynms\nbeta_nms=0.6\nmax_delta=5\n";
    w->activation = "mish";
    net(w, 416, 0.001, 0.949, "mosaic=1\n");
    (void)conv(w, 32, 3, 1);
    for (int i = 0; i < 5; i++)
        fork[i] = csp_stage(w, 64 << i, blocks[i]);
    w->activation = "leaky";
    convs(w, 512, 3);
    pyramid_pool(w);
    convs(w, 512, 3);
    deep = w->next - 1;
    middle = yolov4_up(w, 256, fork[3]);
    (void)yolov4_up(w, 128, fork[2]);
    (void)conv(w, 256, 3, 1);
    head(w, "0,1,2", "scale_x_y=1.2\n");
    yolov4_down(w, 256, middle);
    head(w, "3,4,5", "scale_x_y=1.1\n");
    yolov4_down(w, 512, deep);
    head(w, "6,7,8", "scale_x_y=1.05\n");
}

/* ---- all ---- */

const char ddp_template_names[] = "yolov3, yolov3-tiny, yolov4, yolov4-tiny";

int ddp_template_write(FILE *out, const char *name, int classes)
{
    static const struct {
        const char *name;
        void (*write)(writer *w);
    } all[] = {{"yolov3", yolov3},
               {"yolov3-tiny", yolov3_tiny},
               {"yolov4", yolov4},
               {"yolov4-tiny", yolov4_tiny}};
    writer w = {.out = out, .classes = classes, .loss = ""};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i].name, name) != 0)
            continue;
        (void)fprintf(out,
                      "# %s, by `darknet ddp cfg`. Anchors for pictures of another kind: `darknet "
                      "ddp cfg THIS.cfg -data X.data`.\n",
                      name);
        all[i].write(&w);
        return 1;
    }
    return 0;
}
