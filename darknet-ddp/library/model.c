#include "library/darknet_ddp.h"

#include "glue/darknet.h"
#include "glue/find_boxes.h"
#include "glue/network.h"
#include "layers/images/decode.h"
#include "library/guard.h"
#include "predict/predictor.h"

#include <darknet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct darknet_ddp_model {
    network *net;
    ddp_predictor *predictor;
    char **names; /* NULL behind the last; NULL: there are none */
    darknet_ddp_info info;
};

/* The arguments of darknet_ddp_open, for ddp_guard_run. */
struct opening {
    darknet_ddp_model *model;
    const char *cfg, *weights, *names;
    int gpu;
};

static void print_no_table(const ddp_network_size *size, const char *table)
{
    (void)size;
    (void)table;
}

/* Say why the program ends, which the library's own standard error would drop. */
static void end_program(int exit_status, const char *message)
{
    (void)dprintf(STDERR_FILENO, "%s\n", message);
    exit(exit_status);
}

static void configure(void)
{
    static const ddp_darknet_config config = {
        .any_threads = 1, .table = print_no_table, .fatal = end_program};

    ddp_darknet_configure(&config);
}

const char *darknet_ddp_version(void)
{
    return DDP_VERSION;
}

static int fail(char *error, const char *sentence)
{
    (void)snprintf(error, DARKNET_DDP_ERROR, "%s", sentence);
    return -1;
}

/* ---- opening ---- */

static void check_names(const darknet_ddp_model *m, const char *path)
{
    int count = 0;

    while (m->names[count])
        count++;
    if (count < m->info.classes)
        fatal("%s: a name for each of the cfg's %d classes is wanted, and there are %d", path,
              m->info.classes, count);
}

static void open_model(void *ctx)
{
    const struct opening *o = ctx;
    const ddp_net_number one[] = {{"batch", 1}, {"subdivisions", 1}};
    darknet_ddp_model *m = o->model;
    ddp_predictor_config config = {.hierarchy = .5f, .top = 1, .threads = 1};
    ddp_network_shape shape;
    ddp_error err;

    m->net = ddp_network_load(&shape, o->cfg, one, 2, o->gpu, 0);
    ddp_network_read_weights(m->net, o->weights);
    m->info.classes = ddp_find_classes(m->net);
    m->info.is_detector = m->info.classes > 0;
    if (!m->info.is_detector)
        m->info.classes = shape.outputs;
    m->info.width = shape.width;
    m->info.height = shape.height;
    config.is_classifier = !m->info.is_detector;
    config.top = m->info.classes;
    if (o->names) {
        m->names = get_labels((char *)o->names);
        check_names(m, o->names);
    }
    if (ddp_predictor_open(&m->predictor, m->net, &config, &err))
        fatal("%s: %s", o->cfg, err.text);
}

int darknet_ddp_open(darknet_ddp_model **out, const char *cfg, const char *weights,
                     const char *names, int gpu, char error[DARKNET_DDP_ERROR])
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct opening o = {calloc(1, sizeof *o.model), cfg, weights, names, gpu};

    *out = NULL;
    (void)pthread_once(&once, configure);
    if (!o.model)
        return fail(error, "no memory for a model");
    if (ddp_guard_run(open_model, &o, error, DARKNET_DDP_ERROR)) {
        free(o.model);
        return -1;
    }
    *out = o.model;
    return 0;
}

int darknet_ddp_use_bf16(darknet_ddp_model *model, char error[DARKNET_DDP_ERROR])
{
    ddp_error err;

    return ddp_predictor_use_bf16(model->predictor, &err) ? fail(error, err.text) : 0;
}

void darknet_ddp_describe(const darknet_ddp_model *model, darknet_ddp_info *info)
{
    *info = model->info;
}

const char *darknet_ddp_name(const darknet_ddp_model *model, int class_id)
{
    return model->names && class_id >= 0 && class_id < model->info.classes ? model->names[class_id]
                                                                           : NULL;
}

/* ---- pictures ---- */

static int check_picture(const darknet_ddp_model *m, int width, int height, int wants_detector,
                         char *error)
{
    if (width < 1 || height < 1)
        return fail(error, "a picture of at least 1 x 1 pixels is wanted");
    if (m->info.is_detector == wants_detector)
        return 0;
    return fail(error, wants_detector ? "the network is no detector"
                                      : "the network is a detector, and no classifier");
}

/* Move what was found to *boxes. Returns as the functions above. */
static int give_boxes(ddp_prediction *p, darknet_ddp_box **boxes, int *count, char *error)
{
    darknet_ddp_box *b = calloc(p->count + 1, sizeof *b);

    for (size_t i = 0; b && i < p->count; i++) {
        const ddp_detection *d = &p->found[i];

        b[i] = (darknet_ddp_box){.class_id = d->class_id,
                                 .score = (float)d->score,
                                 .left = (float)(d->box.left * p->width),
                                 .top = (float)(d->box.top * p->height),
                                 .width = (float)(d->box.width * p->width),
                                 .height = (float)(d->box.height * p->height)};
    }
    *boxes = b;
    *count = b ? (int)p->count : 0;
    ddp_prediction_release(p);
    return b ? 0 : fail(error, "no memory for boxes");
}

int darknet_ddp_detect(darknet_ddp_model *model, const unsigned char *pixels, int width, int height,
                       float thresh, float nms, darknet_ddp_box **boxes, int *count,
                       char error[DARKNET_DDP_ERROR])
{
    ddp_prediction p;

    if (check_picture(model, width, height, 1, error))
        return -1;
    ddp_predictor_set_thresholds(model->predictor, thresh, nms);
    ddp_predictor_predict_rgb(model->predictor, pixels, width, height, &p);
    return give_boxes(&p, boxes, count, error);
}

int darknet_ddp_detect_floats(darknet_ddp_model *model, const float *planes, int width, int height,
                              float thresh, float nms, darknet_ddp_box **boxes, int *count,
                              char error[DARKNET_DDP_ERROR])
{
    size_t bytes =
        3 * (size_t)(width > 0 ? width : 0) * (size_t)(height > 0 ? height : 0) * sizeof *planes;
    float *copy;
    ddp_prediction p;

    if (check_picture(model, width, height, 1, error))
        return -1;
    copy = malloc(bytes);
    if (!copy)
        return fail(error, "no memory for a picture");
    memcpy(copy, planes, bytes);
    ddp_predictor_set_thresholds(model->predictor, thresh, nms);
    ddp_predictor_predict_planes(model->predictor, copy, width, height, &p);
    return give_boxes(&p, boxes, count, error);
}

int darknet_ddp_classify(darknet_ddp_model *model, const unsigned char *pixels, int width,
                         int height, float *scores, char error[DARKNET_DDP_ERROR])
{
    ddp_prediction p;

    if (check_picture(model, width, height, 0, error))
        return -1;
    ddp_predictor_predict_rgb(model->predictor, pixels, width, height, &p);
    for (size_t i = 0; i < p.count; i++)
        scores[p.found[i].class_id] = (float)p.found[i].score;
    ddp_prediction_release(&p);
    return 0;
}

int darknet_ddp_read_picture(const char *path, unsigned char **pixels, int *width, int *height,
                             char error[DARKNET_DDP_ERROR])
{
    decoded d;

    *pixels = NULL;
    *width = *height = 0;
    if (decode_picture(path, 3, &d)) {
        (void)snprintf(error, DARKNET_DDP_ERROR, "%.500s: %s", path, d.note);
        return -1;
    }
    *pixels = d.bytes;
    *width = d.w;
    *height = d.h;
    return 0;
}

void darknet_ddp_free(void *memory)
{
    free(memory);
}

void darknet_ddp_close(darknet_ddp_model *model)
{
    if (!model)
        return;
    ddp_predictor_close(model->predictor);
    ddp_network_free(model->net);
    for (int i = 0; model->names && model->names[i]; i++)
        free(model->names[i]);
    free(model->names);
    free(model);
}
