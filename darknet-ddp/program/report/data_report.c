#include "report/data_report.h"

#include "samples/transforms.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MOST = 64, SIDE = 64 }; /* SIDE: pixels that a signature wants, and twice as many */

struct worker {
    ddp_data_report *r;
    size_t first, step;
    int lost; /* 1: there was no memory */
    pthread_t thread;
    int is_started;
};

/* ---- one picture ---- */

struct boxes {
    ddp_report_picture *p;
    int lost;
};

static void add_box(void *ctx, const ddp_label_box *box)
{
    struct boxes *b = ctx;
    size_t n = b->p->box_count;
    ddp_label_box *grown = b->p->boxes;

    if ((n & (n - 1)) == 0)
        grown = realloc(grown, (n ? 2 * n : 1) * sizeof *grown);
    b->lost |= !grown;
    if (!grown)
        return;
    b->p->boxes = grown;
    b->p->boxes[b->p->box_count++] = *box;
}

static void read_labels(const ddp_scan_data *data, struct boxes *b)
{
    const ddp_label_rules rules = {.classes = data->classes};
    char path[DDP_LABEL_PATH_BYTES];
    ddp_faults faults = {0};
    ddp_label_file kind;

    ddp_label_path(b->p->path, path);
    (void)ddp_check_label(&faults, path, &rules, &kind, add_box, b);
    ddp_faults_release(&faults);
}

/* The path of a classifier's picture has the name of its class. */
static void read_class(const ddp_scan_data *data, struct boxes *b)
{
    for (int c = 0; c < data->classes; c++)
        if (strstr(b->p->path, data->names.all[c])) {
            const ddp_label_box all = {.class_id = c, .x = .5F, .y = .5F, .w = 1, .h = 1};

            add_box(b, &all);
        }
}

static int read_picture(ddp_data_report *r, size_t i)
{
    struct boxes b = {.p = &r->pictures[i]};
    unsigned char *grey;
    int width, height;

    if (r->data->heads.count > 0 && r->data->classes > 0)
        read_labels(r->data, &b);
    else if (r->data->by_names)
        read_class(r->data, &b);
    if (ddp_decode_grey(b.p->path, SIDE, &grey, &width, &height))
        return b.lost;
    b.p->is_read = 1;
    ddp_signature_of(&r->signatures[i], grey, width, height);
    free(grey);
    return b.lost;
}

static void *work(void *ctx)
{
    struct worker *w = ctx;

    for (size_t i = w->first; i < w->r->count; i += w->step)
        w->lost |= read_picture(w->r, i);
    return NULL;
}

/* ---- all of them ---- */

static void take_near(void *ctx, size_t i, size_t k, double likeness)
{
    ddp_data_report *r = ctx;
    ddp_report_picture *p = &r->pictures[i];

    if (p->is_valid == r->pictures[k].is_valid && likeness > p->like_by) {
        p->like = (uint32_t)k + 1;
        p->like_by = likeness;
    } else if (p->is_valid && !r->pictures[k].is_valid && likeness > p->trained_by) {
        p->trained = (uint32_t)k + 1;
        p->trained_by = likeness;
    }
}

static int by_path(const void *a, const void *b)
{
    const ddp_report_picture *x = a, *y = b;

    return x->is_valid != y->is_valid ? x->is_valid - y->is_valid : strcmp(x->path, y->path);
}

/* List the pictures of both lists, each once in a list: `ddp check` names lines that stand twice.
 */
static void list_pictures(ddp_data_report *r)
{
    const ddp_scan_data *data = r->data;
    size_t all = data->list.count + data->valid.count, kept = 0;

    for (size_t i = 0; i < all; i++) {
        int is_valid = i >= data->list.count;

        r->pictures[i].path = is_valid ? data->valid.all[i - data->list.count] : data->list.all[i];
        r->pictures[i].is_valid = is_valid;
    }
    qsort(r->pictures, all, sizeof *r->pictures, by_path);
    for (size_t i = 0; i < all; i++)
        if (kept == 0 || by_path(&r->pictures[kept - 1], &r->pictures[i]) != 0)
            r->pictures[kept++] = r->pictures[i];
    r->count = kept;
}

ddp_status ddp_data_report_read(ddp_data_report *r, const ddp_scan_data *data, int threads,
                                ddp_error *err)
{
    struct worker workers[THREADS_MOST] = {{0}};
    size_t all = data->list.count + data->valid.count;
    int lost = 0;

    *r = (ddp_data_report){.data = data};
    threads = threads < THREADS_MOST ? threads : THREADS_MOST;
    r->pictures = calloc(all + 1, sizeof *r->pictures);
    r->signatures = calloc(all + 1, sizeof *r->signatures);
    if (!r->pictures || !r->signatures)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu pictures", all);
    list_pictures(r);
    for (int t = 0; t < threads; t++) {
        workers[t] = (struct worker){.r = r, .first = (size_t)t, .step = (size_t)threads};
        workers[t].is_started =
            t > 0 && pthread_create(&workers[t].thread, NULL, work, &workers[t]) == 0;
    }
    for (int t = 0; t < threads; t++) {
        if (workers[t].is_started)
            (void)pthread_join(workers[t].thread, NULL);
        else
            (void)work(&workers[t]);
        lost |= workers[t].lost;
    }
    if (lost || ddp_near_find(r->signatures, r->count, take_near, r))
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for what is in the data");
    return DDP_OK;
}

void ddp_data_report_release(ddp_data_report *r)
{
    for (size_t i = 0; i < r->count; i++)
        free(r->pictures[i].boxes);
    free(r->pictures);
    free(r->signatures);
    *r = (ddp_data_report){0};
}
