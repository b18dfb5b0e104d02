/* The page of `darknet ddp check -report`: classes, sizes, aspects, anchors, pictures that show the
 * same, and contact sheets of up to 100 classes. */
#include "base/plural.h"
#include "glue/cfg.h"
#include "monitor/html.h"
#include "report/data_report.h"
#include "samples/anchors.h"
#include "samples/thumbnail.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS_MOST = 60, SHEETS_MOST = 100, ON_SHEET = 12, PIXELS = 192 };

static const char *name_of(const ddp_data_report *r, int class_id)
{
    static char number[16];

    if (r->data->names.count > (size_t)class_id)
        return r->data->names.all[class_id];
    (void)snprintf(number, sizeof number, "%d", class_id);
    return number;
}

static void put_heading(FILE *f, const char *text)
{
    (void)fputs("<h2>", f);
    ddp_html_text(f, text);
    (void)fputs("</h2>\n", f);
}

/* ---- classes ---- */

struct class_counts {
    size_t pictures[2], boxes[2]; /* of train=, of valid= */
    size_t last;                  /* number of the picture that was counted last, plus 1 */
};

static void put_classes(FILE *f, const ddp_data_report *r, struct class_counts *counts)
{
    size_t most = 1;

    for (size_t i = 0; i < r->count; i++)
        for (size_t b = 0; b < r->pictures[i].box_count; b++) {
            struct class_counts *c = &counts[r->pictures[i].boxes[b].class_id];
            int side = r->pictures[i].is_valid;

            c->boxes[side]++;
            c->pictures[side] += c->last != i + 1;
            c->last = i + 1;
            most = c->boxes[0] > most ? c->boxes[0] : most;
        }
    put_heading(f, "Classes");
    (void)fputs("<table><tr><th>class<th>boxes of train=<th>pictures<th>boxes of "
                "valid=<th>pictures<th>\n",
                f);
    for (int c = 0; c < r->data->classes; c++) {
        (void)fputs("<tr><td>", f);
        ddp_html_text(f, name_of(r, c));
        (void)fprintf(f,
                      "<td class=\"n\">%zu<td class=\"n\">%zu<td class=\"n\">%zu<td "
                      "class=\"n\">%zu<td><span class=\"bar\" style=\"width:%.1fem\"></span>\n",
                      counts[c].boxes[0], counts[c].pictures[0], counts[c].boxes[1],
                      counts[c].pictures[1], 20 * (double)counts[c].boxes[0] / (double)most);
    }
    (void)fputs("</table>\n", f);
}

/* ---- sizes ---- */

/* Call each(ctx, w, h) with the size of each box of train= as the network sees it, in pixels. */
static void each_size(const ddp_data_report *r, void (*each)(void *ctx, double w, double h),
                      void *ctx)
{
    const ddp_heads *heads = &r->data->heads;
    const int input[2] = {heads->width, heads->height};
    int keeps = ddp_cfg_keeps_aspect(&r->data->cfg.cfg);

    for (size_t i = 0; i < r->count; i++) {
        const ddp_report_picture *p = &r->pictures[i];
        float shares[2] = {1, 1};
        float aspect = r->signatures[i].aspect;

        if (keeps && aspect > 0)
            ddp_letter_box_shares((int)(1000 * aspect), 1000, input, shares);
        for (size_t b = 0; b < p->box_count && !p->is_valid; b++)
            each(ctx, (double)(p->boxes[b].w * shares[0]) * input[0],
                 (double)(p->boxes[b].h * shares[1]) * input[1]);
    }
}

enum { SIZES = 9, ASPECTS = 7 };

struct sizes {
    const ddp_data_report *r;
    double sizes[SIZES], aspects[ASPECTS];
    double anchors[DDP_ANCHORS_MOST], fit;
    size_t count, small;
};

/* IoU of two sizes that have one middle. */
static double size_iou(double w, double h, double other_w, double other_h)
{
    double both = fmin(w, other_w) * fmin(h, other_h);

    return both / (w * h + other_w * other_h - both);
}

static void count_size(void *ctx, double w, double h)
{
    struct sizes *s = ctx;
    const ddp_heads *heads = &s->r->data->heads;
    int size = (int)floor(log2(fmax(sqrt(w * h), 1))), best = 0;
    int aspect = (int)lrint(2 * log2(w / h)) + ASPECTS / 2;
    double best_iou = 0;

    s->count++;
    s->small += sqrt(w * h) < s->r->cell;
    s->sizes[size < SIZES ? size : SIZES - 1]++;
    s->aspects[aspect < 0 ? 0 : aspect < ASPECTS ? aspect : ASPECTS - 1]++;
    for (int a = 0; a < heads->anchor_count; a++) {
        double iou = size_iou(w, h, (double)heads->anchors[2 * a] * heads->width,
                              (double)heads->anchors[2 * a + 1] * heads->height);

        if (iou > best_iou) {
            best_iou = iou;
            best = a;
        }
    }
    s->anchors[best]++;
    s->fit += best_iou;
}

static void put_anchors(FILE *f, const struct sizes *s)
{
    const ddp_heads *heads = &s->r->data->heads;
    char texts[DDP_ANCHORS_MOST][48];
    const char *names[DDP_ANCHORS_MOST];

    if (heads->anchor_count == 0)
        return;
    put_heading(f, "Anchors, and the boxes that each fits best");
    (void)fprintf(f, "<p>The average IoU of a box with its anchor is %.1f%%.</p>\n",
                  100 * s->fit / (double)s->count);
    for (int a = 0; a < heads->anchor_count; a++) {
        (void)snprintf(texts[a], sizeof texts[a], "%.0f x %.0f",
                       (double)heads->anchors[2 * a] * heads->width,
                       (double)heads->anchors[2 * a + 1] * heads->height);
        names[a] = texts[a];
    }
    ddp_html_bars(f, names, s->anchors, (size_t)heads->anchor_count);
}

static void put_sizes(FILE *f, const ddp_data_report *r)
{
    static const char *const sizes[SIZES] = {"1 to 2",    "2 to 4",     "4 to 8",
                                             "8 to 16",   "16 to 32",   "32 to 64",
                                             "64 to 128", "128 to 256", "256 or more"};
    static const char *const aspects[ASPECTS] = {
        "1 : 2.8 or narrower", "1 : 2", "1 : 1.4", "1 : 1", "1.4 : 1", "2 : 1", "2.8 : 1 or wider"};
    struct sizes s = {.r = r};

    if (r->data->heads.count == 0 || r->data->heads.width == 0)
        return;
    each_size(r, count_size, &s);
    if (s.count == 0)
        return;
    put_heading(f, "Sizes of boxes, as the network sees them");
    (void)fprintf(f, "<p>Root of width times height, in pixels of the input of %d x %d.",
                  r->data->heads.width, r->data->heads.height);
    if (r->cell > 0)
        (void)fprintf(
            f,
            " A cell of its finest detector has %d pixels: %zu box%s (%.1f%%) %s smaller, "
            "and hard to find.",
            r->cell, s.small, s.small == 1 ? "" : "es", 100 * (double)s.small / (double)s.count,
            s.small == 1 ? "is" : "are");
    (void)fputs("</p>\n", f);
    ddp_html_bars(f, sizes, s.sizes, SIZES);
    put_heading(f, "Width to height of boxes");
    ddp_html_bars(f, aspects, s.aspects, ASPECTS);
    put_anchors(f, &s);
}

/* ---- pictures that are near ---- */

static void put_picture(FILE *f, const char *path)
{
    ddp_thumbnail t = ddp_thumbnail_of(path, NULL, PIXELS);

    if (t.bytes)
        ddp_html_jpeg(f, t.bytes, t.count, t.width, t.height, NULL, 0);
    free(t.bytes);
    (void)fputs("<br>", f);
    ddp_html_text(f, path);
    (void)fputs("<br>", f);
}

static void put_pairs(FILE *f, const ddp_data_report *r, int trained)
{
    size_t shown = 0;

    (void)fputs("<div class=\"grid\">\n", f);
    for (size_t i = 0; i < r->count && shown < PAIRS_MOST; i++) {
        const ddp_report_picture *p = &r->pictures[i];
        uint32_t other = trained ? p->trained : p->like;

        if (other == 0)
            continue;
        (void)fprintf(f, "<div class=\"card\"><b>%.1f%%</b><br>",
                      100 * (trained ? p->trained_by : p->like_by));
        put_picture(f, p->path);
        put_picture(f, r->pictures[other - 1].path);
        (void)fputs("</div>\n", f);
        shown++;
    }
    (void)fputs("</div>\n", f);
}

static void put_near(FILE *f, const ddp_data_report *r)
{
    size_t valid = 0, trained = 0, like = 0;

    for (size_t i = 0; i < r->count; i++) {
        valid += (size_t)r->pictures[i].is_valid;
        trained += r->pictures[i].trained > 0;
        like += r->pictures[i].like > 0;
    }
    put_heading(f, "Pictures to validate on that are trained on");
    (void)fprintf(f,
                  "<p>%zu of %zu pictures of valid= show%s what a picture of train= shows, perhaps "
                  "mirrored, scaled or of another quality. Figures of validation are too good by "
                  "them.</p>\n",
                  trained, valid, trained == 1 ? "s" : "");
    put_pairs(f, r, 1);
    put_heading(f, "Pictures that show the same");
    (void)fprintf(f, "<p>%zu picture%s show%s what another one of the same list shows.</p>\n", like,
                  ddp_plural(like), like == 1 ? "s" : "");
    put_pairs(f, r, 0);
}

/* ---- contact sheets ---- */

/* The part of a picture that shows a box and some of what is around it. */
static ddp_box part_of(const ddp_label_box *b)
{
    double w = fmin(1, fmax(.05, 1.4 * (double)b->w)), h = fmin(1, fmax(.05, 1.4 * (double)b->h));

    return (ddp_box){(double)b->x - w / 2, (double)b->y - h / 2, w, h};
}

static void put_sheet(FILE *f, const ddp_data_report *r, int class_id, size_t boxes)
{
    size_t seen = 0, shown = 0, most = boxes < ON_SHEET ? boxes : ON_SHEET;

    put_heading(f, name_of(r, class_id));
    (void)fputs("<div class=\"grid\">\n", f);
    for (size_t i = 0; i < r->count && shown < most; i++) {
        const ddp_report_picture *p = &r->pictures[i];

        for (size_t b = 0; b < p->box_count && shown < most; b++) {
            ddp_box part = part_of(&p->boxes[b]);
            ddp_thumbnail t;

            if (p->is_valid || p->boxes[b].class_id != class_id
                || seen++ < shown * boxes / most) /* evenly from all of them */
                continue;
            shown++;
            t = ddp_thumbnail_of(p->path, &part, PIXELS / 2);
            if (t.bytes)
                ddp_html_jpeg(f, t.bytes, t.count, t.width, t.height, NULL, 0);
            free(t.bytes);
        }
    }
    (void)fputs("</div>\n", f);
}

/* ---- the page ---- */

void ddp_data_report_put(FILE *out, const ddp_data_report *r)
{
    struct class_counts *counts = calloc((size_t)r->data->classes + 1, sizeof *counts);
    size_t unread = 0, empty = 0;

    for (size_t i = 0; i < r->count; i++) {
        unread += !r->pictures[i].is_read;
        empty += r->pictures[i].box_count == 0;
    }
    ddp_html_begin(out, "What is in the data");
    (void)fputs("<p><code>", out);
    ddp_html_text(out, r->data->data_path);
    (void)fprintf(out, "</code>: %zu picture%s, %zu without a box, %zu that cannot be read.</p>\n",
                  r->count, ddp_plural(r->count), empty, unread);
    if (counts)
        put_classes(out, r, counts);
    put_sizes(out, r);
    put_near(out, r);
    put_heading(out, "Boxes of each class, from train=");
    for (int c = 0; counts && c < r->data->classes && c < SHEETS_MOST; c++)
        if (counts[c].boxes[0] > 0)
            put_sheet(out, r, c, counts[c].boxes[0]);
    ddp_html_end(out);
    free(counts);
}
