#include "cli/check_print.h"

#include "base/json.h"
#include "base/plural.h"

#include <inttypes.h>
#include <string.h>

/* Classes that are counted, and classes without pictures that are named, on the terminal; more of
 * them are in the JSON. */
enum { CLASSES_SHOWN = 20, EMPTY_SHOWN = 100, BAR = 30 };

/* Faults of one kind, one behind the other, that are shown; all are in the JSON. */
enum { SHOWN = 50 };

struct printing {
    FILE *out, *json;
    ddp_check_counts counts;
    char kind[64]; /* of the fault before */
    size_t alike;  /* faults of that kind so far */
};

/* Behind the last fault of a kind. */
static void print_rest(const struct printing *p)
{
    if (p->alike > SHOWN)
        (void)fprintf(p->out, "... and %zu more like these; -json FILE writes all of them\n",
                      p->alike - SHOWN);
}

/* Is it one of the first of its kind? */
static int is_shown(struct printing *p, const ddp_fault *fault)
{
    if (strcmp(p->kind, fault->kind) != 0) {
        print_rest(p);
        p->alike = 0;
        (void)snprintf(p->kind, sizeof p->kind, "%s", fault->kind);
    }
    return ++p->alike <= SHOWN;
}

static void put_json(struct printing *p, const ddp_fault *fault)
{
    FILE *json = p->json;

    (void)fprintf(json, "%s\n  {\"level\": \"%s\", \"kind\": \"%s\", \"line\": %d, \"file\": ",
                  p->counts.errors + p->counts.warnings > 1 ? "," : "",
                  fault->level == DDP_FAULT_ERROR ? "error" : "warning", fault->kind, fault->line);
    ddp_json_text(json, fault->file);
    (void)fputs(", \"text\": ", json);
    ddp_json_text(json, fault->text);
    (void)fputc('}', json);
}

static void print_fault(void *ctx, const ddp_fault *fault)
{
    struct printing *p = ctx;
    int is_error = fault->level == DDP_FAULT_ERROR;
    char line[16] = "";

    p->counts.errors += (size_t)is_error;
    p->counts.warnings += (size_t)!is_error;
    if (fault->line > 0)
        (void)snprintf(line, sizeof line, ":%d", fault->line);
    if (is_shown(p, fault))
        (void)fprintf(p->out, "%s%s: %s: %s\n", fault->file, line, is_error ? "error" : "warning",
                      fault->text);
    if (p->json)
        put_json(p, fault);
}

static void print_bar(FILE *out, uint64_t count, uint64_t most)
{
    int length = most ? (int)(count * BAR / most) : 0;

    (void)fprintf(out, " %8" PRIu64 " %.*s\n", count, length, "##############################");
}

/* Name a class without pictures, or say that there are more of them. */
static void print_empty(FILE *out, const ddp_check_result *r, int c, int shown)
{
    const char *before = shown ? ", " : ": ";

    if (shown == EMPTY_SHOWN)
        (void)fprintf(out, ", ...");
    else if (r->names)
        (void)fprintf(out, "%s%s", before, r->names[c]);
    else
        (void)fprintf(out, "%s%d", before, c);
}

static void print_classes(FILE *out, const ddp_check_result *r)
{
    uint64_t most = 0, none = 0;

    for (int c = 0; c < r->classes; c++) {
        most = r->by_class[c] > most ? r->by_class[c] : most;
        none += r->by_class[c] == 0;
    }
    if (r->classes > 0)
        (void)fprintf(out, "classes:\n");
    for (int c = 0; c < r->classes && c < CLASSES_SHOWN; c++) {
        (void)fprintf(out, "  %5d %-20.20s", c, r->names ? r->names[c] : "");
        print_bar(out, r->by_class[c], most);
    }
    if (r->classes > CLASSES_SHOWN)
        (void)fprintf(out, "  ... and %d more\n", r->classes - CLASSES_SHOWN);
    if (none > 0)
        (void)fprintf(out, "  %" PRIu64 " class%s with nothing to learn from", none,
                      none == 1 ? "" : "es");
    for (int c = 0, shown = 0; none > 0 && c < r->classes && shown <= EMPTY_SHOWN; c++)
        if (r->by_class[c] == 0)
            print_empty(out, r, c, shown++);
    if (none > 0)
        (void)fprintf(out, "\n");
}

static void print_sides(FILE *out, const ddp_tally *t)
{
    uint64_t most = 0;

    for (int i = 0; i < DDP_SIDE_BINS; i++)
        most = t->sides[i] > most ? t->sides[i] : most;
    if (most == 0)
        return;
    (void)fprintf(out, "longer side of pictures, pixels:\n");
    for (int i = 0; i < DDP_SIDE_BINS; i++) {
        int last = i + 1 == DDP_SIDE_BINS;

        (void)fprintf(out, "  %s %6d               ", last ? " above" : " up to",
                      ddp_side_bins[last ? i - 1 : i]);
        print_bar(out, t->sides[i], most);
    }
}

static void print_sizes(FILE *out, const ddp_tally *t)
{
    uint64_t most = 0;

    for (int i = 0; i < DDP_BOX_BINS; i++)
        most = t->sizes[i] > most ? t->sizes[i] : most;
    if (most == 0)
        return;
    (void)fprintf(out, "size of boxes, root of width x height as a share of the picture:\n");
    for (int i = 0; i < DDP_BOX_BINS; i++) {
        (void)fprintf(out, "   up to %6g               ", ddp_box_bins[i]);
        print_bar(out, t->sizes[i], most);
    }
}

static void print_anchors(FILE *out, const ddp_check_result *r)
{
    const ddp_anchor_fit *fit = &r->fit->anchors;

    if (r->tally->anchored > 0)
        (void)fprintf(out, "anchors of the cfg: average IoU with these boxes %.1f%%\n",
                      100 * r->tally->anchor_iou / (double)r->tally->anchored);
    if (fit->count == 0 || fit->iou <= fit->cfgs_iou)
        return;
    (void)fprintf(out, "anchors that fit ");
    if (fit->sampled > 0)
        (void)fprintf(out, "a sample of %u", fit->sampled);
    else
        (void)fprintf(out, "them");
    (void)fprintf(out, ", %.1f%%: anchors =", 100 * fit->iou);
    for (int i = 0; i < fit->count; i++)
        (void)fprintf(out, "%s %.0f,%.0f", i ? "," : "", (double)fit->anchors[2 * i],
                      (double)fit->anchors[2 * i + 1]);
    (void)fprintf(out, "\n");
}

static void print_fit(FILE *out, const ddp_check_result *r)
{
    const ddp_fit *fit = r->fit;

    print_anchors(out, r);
    if (fit->weights_path && !fit->weights.refusal[0])
        (void)fprintf(out, "%s has weights for %s%d layers%s\n", fit->weights_path,
                      fit->weights.file_layers < fit->weights.cfg_layers ? "the first " : "all ",
                      fit->weights.file_layers,
                      fit->weights.file_layers < fit->weights.cfg_layers
                          ? "; the others begin at random"
                          : "");
}

static void print_tally(FILE *out, const ddp_check_result *r)
{
    const ddp_tally *t = r->tally;

    (void)fprintf(out, "%" PRIu64 " picture%s", t->pictures, ddp_plural(t->pictures));
    if (r->heads->count > 0)
        (void)fprintf(out,
                      ", %" PRIu64 " box%s; %" PRIu64 " picture%s without a label file, %" PRIu64
                      " with an empty one",
                      t->boxes, t->boxes == 1 ? "" : "es", t->without_labels,
                      ddp_plural(t->without_labels), t->without_boxes);
    if (t->turned > 0)
        (void)fprintf(out, "; %" PRIu64 " turned, as their Exif data say", t->turned);
    (void)fprintf(out, "\n");
    print_classes(out, r);
    print_sides(out, t);
    print_sizes(out, t);
    print_fit(out, r);
}

static void put_tally(FILE *json, const ddp_check_result *r)
{
    const ddp_tally *t = r->tally;

    (void)fprintf(json,
                  "\n ],\n \"pictures\": %" PRIu64 ", \"boxes\": %" PRIu64 ", \"turned\": %" PRIu64
                  ", \"without_labels\": %" PRIu64 ", \"without_boxes\": %" PRIu64
                  ",\n \"classes\": [",
                  t->pictures, t->boxes, t->turned, t->without_labels, t->without_boxes);
    for (int c = 0; c < r->classes; c++)
        (void)fprintf(json, "%s%" PRIu64, c ? ", " : "", r->by_class[c]);
    (void)fputs("]", json);
    if (t->anchored > 0)
        (void)fprintf(json, ",\n \"anchor_iou\": %.6f", t->anchor_iou / (double)t->anchored);
    if (r->fit->anchors.count > 0)
        (void)fprintf(json, ",\n \"fitting_anchor_iou\": %.6f", r->fit->anchors.iou);
    if (r->fit->weights_path)
        (void)fprintf(json, ",\n \"weights_layers\": %d", r->fit->weights.file_layers);
}

ddp_check_counts ddp_check_print(FILE *out, FILE *json, ddp_faults *faults,
                                 const ddp_check_result *r)
{
    struct printing p = {.out = out, .json = json};

    if (json)
        (void)fputs("{\"faults\": [", json);
    ddp_faults_each(faults, print_fault, &p);
    print_rest(&p);
    print_tally(out, r);
    if (faults->lost)
        (void)fprintf(out, "some faults are not shown: there was no memory for them\n");
    (void)fprintf(out, "%zu error%s, %zu warning%s%s\n", p.counts.errors,
                  ddp_plural(p.counts.errors), p.counts.warnings, ddp_plural(p.counts.warnings),
                  p.counts.errors ? ": training would end, or learn something else than was meant"
                                  : "");
    if (json) {
        put_tally(json, r);
        (void)fprintf(json, ",\n \"errors\": %zu, \"warnings\": %zu}\n", p.counts.errors,
                      p.counts.warnings);
    }
    return p.counts;
}
