#include "predict/predictor.h"

#include "base/clock.h"
#include "glue/find_boxes.h"
#include "layers/heads/best_box.h"
#include "layers/images/pixels.h"
#include "layers/inference/plan.h"
#include "samples/picture_loader.h"

#include <darknet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A picture that is being decoded. */
struct loading {
    ddp_picture_loader loader;
    size_t number;
};

struct ddp_predictor {
    network *net;
    inference_plan *plan; /* NULL: the network computes */
    ddp_predictor_config config;
    int classes;
    struct loading *ring; /* places of `room` pictures */
    size_t room;
    size_t first, count; /* those in flight begin at `first` */
    int *order;          /* room for the numbers of `top` classes */
};

static image fit_letter_box(network *net, image whole)
{
    return letterbox_image(whole, net->w, net->h);
}

/* ---- opening ---- */

static ddp_status check_network(const ddp_predictor *p, ddp_error *err)
{
    if (!p->config.is_classifier && p->classes == 0)
        return ddp_fail(err, DDP_ERR_USAGE, "the cfg has no [yolo], [region] or [detection]");
    if (p->net->c != 3)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "the cfg has channels=%d, and pictures have 3, red, green and blue",
                        p->net->c);
    return DDP_OK;
}

/* Make a plan, and compute once with it. */
static ddp_status make_plan(ddp_predictor *p, int bf16, ddp_error *err)
{
    float *blank = calloc((size_t)p->net->inputs + 1, sizeof *blank);

    if (!blank)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a picture");
    inference_close(p->plan);
    p->plan = inference_open(p->net, bf16);
    (void)inference_predict(p->plan, p->net, blank);
    free(blank);
    return DDP_OK;
}

static ddp_status prepare(ddp_predictor *p, ddp_error *err)
{
    p->room = (size_t)p->config.threads;
    p->ring = calloc(p->room, sizeof *p->ring);
    p->order = calloc((size_t)p->config.top + 1, sizeof *p->order);
    if (!p->ring || !p->order)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu pictures", p->room);
    if (!gemm_any_threads)
        gemm_any_threads = 1; /* the same bits on ranks with more cores, as in validation */
    set_batch_network(p->net, 1);
    return make_plan(p, 0, err);
}

ddp_status ddp_predictor_use_bf16(ddp_predictor *p, ddp_error *err)
{
    if (ddp_network_check_bf16(p->net, err))
        return err->code;
    return make_plan(p, 1, err);
}

ddp_status ddp_predictor_open(ddp_predictor **out, network *net, const ddp_predictor_config *config,
                              ddp_error *err)
{
    ddp_predictor *p = calloc(1, sizeof *p);
    ddp_status st;

    *out = NULL;
    if (!p)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a predictor");
    p->net = net;
    p->config = *config;
    p->classes = config->is_classifier ? net->outputs : ddp_find_classes(net);
    if (p->config.top > p->classes)
        p->config.top = p->classes;
    st = check_network(p, err);
    if (!st)
        st = prepare(p, err);
    if (st) {
        ddp_predictor_close(p);
        return st;
    }
    *out = p;
    return DDP_OK;
}

void ddp_predictor_set_thresholds(ddp_predictor *p, float thresh, float nms)
{
    p->config.thresh = thresh;
    p->config.nms = nms;
}

/* ---- what is found ---- */

static void add(void *ctx, const ddp_detection *d)
{
    ddp_prediction *p = ctx;

    if ((p->count & (p->count - 1)) == 0) {
        size_t room = p->count ? 2 * p->count : 1;
        ddp_detection *grown = realloc(p->found, room * sizeof *grown);

        if (!grown)
            error("no memory for boxes");
        p->found = grown;
    }
    p->found[p->count++] = *d;
}

static void keep_likeliest(void *ctx, const ddp_detection *d)
{
    ddp_detection *best = ctx;

    if (d->score > best->score)
        *best = *d;
}

/* By falling score; boxes of one score by class and place, so that the order is always the same. */
static int by_score(const void *a, const void *b)
{
    const ddp_detection *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    if (x->class_id != y->class_id)
        return x->class_id < y->class_id ? -1 : 1;
    if (x->box.left != y->box.left)
        return x->box.left < y->box.left ? -1 : 1;
    return (x->box.top > y->box.top) - (x->box.top < y->box.top);
}

static void turn_back(ddp_detection *d)
{
    d->picture = 1;
    d->box.left = 1 - d->box.left - d->box.width;
}

/* Add a find of the mirrored picture. */
static void add_mirrored(void *ctx, const ddp_detection *d)
{
    ddp_detection back = *d;

    turn_back(&back);
    add(ctx, &back);
}

static void find_boxes(ddp_predictor *p, image fitted, ddp_prediction *out)
{
    ddp_find_rules rules = {.least = p->config.thresh,
                            .hierarchy = p->config.hierarchy,
                            .overlap = p->config.nms,
                            .classes = p->classes};

    out->not_finite = ddp_find_boxes(p->net, out->width, out->height, &rules, add, out);
    if (p->config.mirrors) {
        flip_image(fitted);
        (void)inference_predict(p->plan, p->net, fitted.data);
        out->not_finite +=
            ddp_find_boxes(p->net, out->width, out->height, &rules, add_mirrored, out);
    }
    if (out->count > 0) {
        qsort(out->found, out->count, sizeof *out->found, by_score);
        return;
    }
    rules.least = rules.overlap = 0;
    (void)ddp_find_boxes(p->net, out->width, out->height, &rules, keep_likeliest, &out->best);
    if (out->best.score > 0)
        out->best_threshold = threshold_below(out->best.score);
    if (p->config.mirrors)
        turn_back(&out->best);
}

static void find_classes(ddp_predictor *p, float *output, ddp_prediction *out)
{
    network *net = p->net;

    if (net->hierarchy)
        hierarchy_predictions(output, net->outputs, net->hierarchy, 1, 1);
    top_k(output, net->outputs, p->config.top, p->order);
    for (int i = 0; i < p->config.top; i++) {
        const ddp_detection d = {.class_id = p->order[i], .score = (double)output[p->order[i]]};

        add(out, &d);
    }
}

/* fitted: the picture as the network takes it. */
static void predict(ddp_predictor *p, image fitted, ddp_prediction *out)
{
    int64_t began = ddp_clock_ns();
    float *output = inference_predict(p->plan, p->net, fitted.data);

    out->seconds = (double)(ddp_clock_ns() - began) / 1e9;
    if (p->config.is_classifier)
        find_classes(p, output, out);
    else
        find_boxes(p, fitted, out);
}

/* ---- pictures ---- */

int ddp_predictor_has_room(const ddp_predictor *p)
{
    return p->count < p->room;
}

void ddp_predictor_load(ddp_predictor *p, const char *path, size_t number)
{
    struct loading *l = &p->ring[(p->first + p->count++) % p->room];

    l->number = number;
    ddp_picture_loader_begin(&l->loader, p->net, path,
                             p->config.is_classifier ? fit_letter_box : fit_image);
}

int ddp_predictor_next(ddp_predictor *p, ddp_prediction *out)
{
    struct loading *l = &p->ring[p->first];
    ddp_picture picture;

    *out = (ddp_prediction){0};
    if (p->count == 0)
        return 0;
    picture = ddp_picture_loader_end(&l->loader);
    p->first = (p->first + 1) % p->room;
    p->count--;
    out->path = l->loader.path;
    out->number = l->number;
    (void)snprintf(out->why, sizeof out->why, "%s", picture.why);
    if (picture.why[0]) {
        ddp_picture_release(&picture);
        return 1;
    }
    out->width = picture.whole.w;
    out->height = picture.whole.h;
    out->pixels = picture.whole.data;
    predict(p, picture.fitted, out);
    free_image(picture.fitted);
    return 1;
}

void ddp_predictor_predict_planes(ddp_predictor *p, float *planes, int width, int height,
                                  ddp_prediction *out)
{
    image whole = {.w = width, .h = height, .c = 3, .data = planes};
    image fitted =
        p->config.is_classifier ? fit_letter_box(p->net, whole) : fit_image(p->net, whole);

    *out = (ddp_prediction){.width = width, .height = height, .pixels = planes};
    predict(p, fitted, out);
    free_image(fitted);
}

void ddp_predictor_predict_rgb(ddp_predictor *p, const unsigned char *rgb, int width, int height,
                               ddp_prediction *out)
{
    image whole = make_image(width, height, 3);

    pixels_from_bytes(rgb, (size_t)width * (size_t)height, 3, whole.data);
    ddp_predictor_predict_planes(p, whole.data, width, height, out);
}

void ddp_prediction_release(ddp_prediction *p)
{
    free(p->found);
    free(p->pixels);
    *p = (ddp_prediction){0};
}

void ddp_predictor_close(ddp_predictor *p)
{
    ddp_prediction left;

    if (!p)
        return;
    while (ddp_predictor_next(p, &left))
        ddp_prediction_release(&left);
    inference_close(p->plan);
    free(p->ring);
    free(p->order);
    free(p);
}
