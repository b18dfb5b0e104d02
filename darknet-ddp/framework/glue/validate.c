#include "glue/validate.h"

#include "check/label.h"
#include "comm/collectives.h"
#include "samples/transforms.h"

#include <darknet.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a detection needs to be counted, and how much two may overlap, as in Darknet's own
 * `detector valid`. */
static const float least_score = .005f, most_overlap = .45f, hierarchy_score = .5f;

/* ---- the network, as it is for single pictures ---- */

struct mode {
    int batch, width, height, any_threads;
};

static void enter(struct mode *before, network *net, const ddp_validation_set *set)
{
    *before = (struct mode){net->batch, net->w, net->h, gemm_any_threads};
    gemm_any_threads = 1; /* the same bits on ranks with more cores */
    if (set->width > 0 && (set->width != net->w || set->height != net->h))
        (void)resize_network(net, set->width, set->height);
    set_batch_network(net, 1);
}

static void leave(const struct mode *before, network *net)
{
    set_batch_network(net, before->batch);
    if (before->width != net->w || before->height != net->h)
        (void)resize_network(net, before->width, before->height);
    gemm_any_threads = before->any_threads;
}

/* The last layer that finds boxes; NULL: none does. */
static const layer *head_of(const network *net)
{
    for (int i = net->n - 1; i >= 0; i--) {
        LAYER_TYPE type = net->layers[i].type;

        if (type == YOLO || type == REGION || type == DETECTION)
            return &net->layers[i];
    }
    return NULL;
}

static ddp_status check_head(const network *net, const ddp_validation_set *set, ddp_error *err)
{
    const layer *head = head_of(net);

    if (!head)
        return ddp_fail(err, DDP_ERR_USAGE, "the cfg has no [yolo], [region] or [detection]");
    if (!set->map && set->classes > head->classes)
        return ddp_fail(err, DDP_ERR_USAGE, "classes=%d in the .data file, and the cfg has %d",
                        set->classes, head->classes);
    return DDP_OK;
}

/* ---- pictures, loaded while the one before is computed ---- */

struct loading {
    load_args args;
    image whole, fitted;
    pthread_t thread;
};

static void begin_loading(struct loading *l, const network *net, char *path)
{
    l->args = get_base_args((network *)net);
    l->args.path = path;
    l->args.im = &l->whole;
    l->args.resized = &l->fitted;
    l->args.type = LETTERBOX_DATA; /* stretches, if training did */
    l->thread = load_data_in_thread(l->args);
}

/* ---- what a rank finds ---- */

struct boxes {
    ddp_detection *found;
    ddp_truth *truths;
    size_t found_count, truth_count, found_room, truth_room;
    uint64_t left_out; /* found, but not finite */
    uint32_t picture;
    int failed; /* there was no memory */
};

static void release(struct boxes *b)
{
    free(b->found);
    free(b->truths);
}

/* The place of one more of size bytes behind count of them; NULL: no memory. */
static void *one_more(void **array, size_t *count, size_t *room, size_t size)
{
    if (*count == *room) {
        size_t more = *room ? 2 * *room : 256;
        void *grown = realloc(*array, more * size);

        if (!grown)
            return NULL;
        *array = grown;
        *room = more;
    }
    return (char *)*array + (*count)++ * size;
}

static void add_truth(void *ctx, const ddp_label_box *box)
{
    struct boxes *b = ctx;
    ddp_truth *t =
        one_more((void **)&b->truths, &b->truth_count, &b->truth_room, sizeof *b->truths);

    if (!t) {
        b->failed = 1;
        return;
    }
    *t = (ddp_truth){.picture = b->picture,
                     .class_id = box->class_id,
                     .box = {.left = (double)box->x - (double)box->w / 2,
                             .top = (double)box->y - (double)box->h / 2,
                             .width = (double)box->w,
                             .height = (double)box->h}};
}

/* exp overflows where training has gone wrong. */
static int is_finite(const box *b)
{
    return isfinite(b->x) && isfinite(b->y) && isfinite(b->w) && isfinite(b->h);
}

static void add_found(struct boxes *b, const detection *d, int class_id)
{
    ddp_detection *f =
        one_more((void **)&b->found, &b->found_count, &b->found_room, sizeof *b->found);

    if (!f) {
        b->failed = 1;
        return;
    }
    *f = (ddp_detection){.picture = b->picture,
                         .class_id = class_id,
                         .score = (double)d->prob[class_id],
                         .box = {.left = (double)d->bbox.x - (double)d->bbox.w / 2,
                                 .top = (double)d->bbox.y - (double)d->bbox.h / 2,
                                 .width = (double)d->bbox.w,
                                 .height = (double)d->bbox.h}};
}

static void detect(struct boxes *b, network *net, struct loading *l, const ddp_validation_set *set)
{
    /* [detection] gives boxes in pixels of a picture of the size that it is told. */
    int fractions = head_of(net)->type == DETECTION, classes = set->classes, count = 0;
    detection *dets;

    (void)network_predict(net, l->fitted.data);
    dets = get_network_boxes(net, fractions ? 1 : l->whole.w, fractions ? 1 : l->whole.h,
                             least_score, hierarchy_score, set->map, 1, &count);
    suppress_boxes(net, dets, count, classes, most_overlap);
    for (int i = 0; i < count; i++)
        for (int c = 0; c < classes; c++)
            if (!isfinite(dets[i].prob[c]) || (dets[i].prob[c] > 0 && !is_finite(&dets[i].bbox)))
                b->left_out++;
            else if (dets[i].prob[c] > 0)
                add_found(b, &dets[i], c);
    free_detections(dets, count);
}

static void print_first(void *ctx, const ddp_fault *fault)
{
    char *text = ctx;

    if (!*text && fault->level == DDP_FAULT_ERROR)
        (void)snprintf(text, 400, "%s, line %d: %s", fault->file, fault->line, fault->text);
}

/* The file may be missing, and must be right if it is not. */
static ddp_status read_truth(struct boxes *b, const char *picture, int classes, ddp_error *err)
{
    const ddp_label_rules rules = {.classes = classes};
    ddp_faults faults = {0};
    char path[4096], text[400] = "";
    ddp_label_file kind;

    ddp_label_path(picture, path);
    (void)ddp_check_label(&faults, path, &rules, &kind, add_truth, b);
    ddp_faults_each(&faults, print_first, text);
    ddp_faults_release(&faults);
    return *text ? ddp_fail(err, DDP_ERR_FORMAT, "%s", text) : DDP_OK;
}

static ddp_status look(struct boxes *b, ddp_group *group, network *net,
                       const ddp_validation_set *set, ddp_error *err)
{
    size_t step = (size_t)ddp_group_size(group), first = (size_t)ddp_group_rank(group);
    struct loading next, now;
    ddp_status st = DDP_OK;

    if (first < set->count)
        begin_loading(&next, net, set->paths[first]);
    for (size_t i = first; i < set->count; i += step) {
        (void)pthread_join(next.thread, NULL);
        now = next;
        if (i + step < set->count)
            begin_loading(&next, net, set->paths[i + step]);
        b->picture = (uint32_t)i;
        if (!st)
            st = read_truth(b, set->paths[i], set->classes, err);
        if (!st)
            detect(b, net, &now, set);
        free_image(now.whole);
        free_image(now.fitted);
    }
    if (!st && b->failed)
        st = ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu detections", b->found_count);
    return st;
}

/* ---- all ranks' ---- */

/* *array, of *count of size bytes, becomes every rank's, one behind the other. */
static ddp_status gather(ddp_group *group, void **array, size_t *count, size_t size, ddp_error *err)
{
    char *all = NULL;
    size_t total = 0;
    ddp_status st = DDP_OK;

    for (int r = 0; r < ddp_group_size(group) && !st; r++) {
        uint64_t n = *count;
        char *grown;

        st = ddp_broadcast(group, &n, sizeof n, r, err);
        if (st || n == 0)
            continue;
        grown = realloc(all, (total + n) * size);
        if (!grown) {
            st = ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu results", total + n);
            continue;
        }
        all = grown;
        if (r == ddp_group_rank(group))
            memcpy(all + total * size, *array, n * size);
        st = ddp_broadcast(group, all + total * size, n * size, r, err);
        total += n;
    }
    free(*array);
    *array = all;
    *count = total;
    return st;
}

static ddp_status add_up_left_out(ddp_group *group, uint64_t own, size_t *sum, ddp_error *err)
{
    *sum = 0;
    for (int r = 0; r < ddp_group_size(group); r++) {
        uint64_t n = own;

        if (ddp_broadcast(group, &n, sizeof n, r, err))
            return err->code;
        *sum += n;
    }
    return DDP_OK;
}

/* A rank that failed must not leave the others waiting. */
static ddp_status agree_on_success(ddp_group *group, ddp_status st, ddp_error *err)
{
    int32_t failed = st != DDP_OK, all[1024];
    ddp_error other;

    if (ddp_group_size(group) > 1024 || ddp_allgather(group, &failed, all, sizeof failed, &other))
        return st ? st : ddp_fail(err, DDP_ERR_COMM, "%s", other.text);
    for (int r = 0; r < ddp_group_size(group) && !st; r++)
        if (all[r])
            st = ddp_fail(err, DDP_ERR_IO, "rank %d could not validate its share", r);
    return st;
}

ddp_status ddp_validate_detector(ddp_precision *all, ddp_precision *each, ddp_group *group,
                                 network *net, const ddp_validation_set *set,
                                 const ddp_precision_config *config,
                                 ddp_validation_listener listener, void *ctx, ddp_error *err)
{
    struct boxes b = {0};
    struct mode before;
    ddp_status st;

    if (check_head(net, set, err))
        return err->code;
    enter(&before, net, set);
    st = look(&b, group, net, set, err);
    leave(&before, net);
    st = agree_on_success(group, st, err);
    if (!st)
        st = gather(group, (void **)&b.found, &b.found_count, sizeof *b.found, err);
    if (!st)
        st = gather(group, (void **)&b.truths, &b.truth_count, sizeof *b.truths, err);
    if (!st)
        st = ddp_precision_of(all, each, config, b.found, b.found_count, b.truths, b.truth_count,
                              err);
    if (!st)
        st = add_up_left_out(group, b.left_out, &all->left_out, err);
    if (!st && listener && ddp_group_rank(group) == 0)
        listener(ctx, b.found, b.found_count, b.truths, b.truth_count);
    release(&b);
    return st;
}

/* ---- classifiers ---- */

/* What one picture adds. Summed in the order of pictures, whichever rank had it. */
struct hit {
    double loss;
    int32_t top1, topk;
};

static struct hit judge(const float *prediction, int classes, int class_id, int top)
{
    int better = 0;
    float own = prediction[class_id];

    for (int c = 0; c < classes; c++)
        better += prediction[c] > own || (prediction[c] == own && c < class_id);
    return (struct hit){
        .loss = -log(fmax((double)own, 1e-12)), .top1 = better == 0, .topk = better < top};
}

static void classify(struct hit *hits, ddp_group *group, network *net,
                     const ddp_validation_set *set, const int *class_of, int top)
{
    size_t step = (size_t)ddp_group_size(group);
    int rank = ddp_group_rank(group);

    for (size_t i = (size_t)rank, k = 0; i < set->count; i += step, k++) {
        image whole = load_image_color(set->paths[i], 0, 0);
        image crop = center_crop_image(whole, net->w, net->h);
        float *prediction = network_predict(net, crop.data);

        if (net->hierarchy)
            hierarchy_predictions(prediction, net->outputs, net->hierarchy, 1, 1);
        hits[k] = judge(prediction, set->classes, class_of[i], top);
        free_image(whole);
        free_image(crop);
    }
}

static void add_up(ddp_accuracy *out, const struct hit *all, size_t share, size_t size,
                   size_t pictures)
{
    *out = (ddp_accuracy){.pictures = pictures};
    for (size_t i = 0; i < pictures; i++) {
        const struct hit *h = &all[i % size * share + i / size];

        out->loss += h->loss;
        out->top1 += h->top1;
        out->topk += h->topk;
    }
    if (pictures == 0)
        return;
    out->loss /= (double)pictures;
    out->top1 /= (double)pictures;
    out->topk /= (double)pictures;
}

ddp_status ddp_validate_classifier(ddp_accuracy *out, ddp_group *group, network *net,
                                   const ddp_validation_set *set, const int *class_of, int top,
                                   ddp_error *err)
{
    size_t size = (size_t)ddp_group_size(group), share = (set->count + size - 1) / size;
    struct hit *own = calloc(share + 1, sizeof *own);
    struct hit *all = calloc(share * size + 1, sizeof *all);
    struct mode before;
    ddp_status st = DDP_OK;

    if (!own || !all)
        st = ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu results", share * size);
    if (!st && set->classes > net->outputs)
        st = ddp_fail(err, DDP_ERR_USAGE, "%d classes, and a network with %d outputs", set->classes,
                      net->outputs);
    st = agree_on_success(group, st, err);
    if (!st) {
        enter(&before, net, set);
        classify(own, group, net, set, class_of, top);
        leave(&before, net);
        st = ddp_allgather(group, own, all, share * sizeof *own, err);
    }
    if (!st)
        add_up(out, all, share, size, set->count);
    free(own);
    free(all);
    return st;
}
