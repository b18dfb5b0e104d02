/* The command `darknet detector map DATA CFG WEIGHTS`: prints the average precision of given
 * weights on the pictures of valid=. With -json it also writes all boxes to a file. */
#include "base/json.h"
#include "base/plural.h"
#include "cli/evaluate.h"
#include "show/output_file.h"
#include "show/rank_output.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Print a figure; "-" for one that a class without boxes has not. */
static void print_figure(int width, double figure)
{
    if (figure < 0)
        printf("  %*s", width, "-");
    else
        printf("  %*.4f", width, figure);
}

static void print_row(const char *name, const ddp_precision *p)
{
    const struct {
        int width;
        double figure;
    } columns[] = {{7, p->ap50},      {7, p->ap75},   {11, p->ap},
                   {9, p->precision}, {6, p->recall}, {11, p->mean_iou}};

    printf("%-20.20s %8zu", name, p->truths);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        print_figure(columns[i].width, columns[i].figure);
    (void)putchar('\n');
}

static int has_none(const ddp_validation_result *r)
{
    for (int c = 0; c < r->classes; c++)
        if (r->each[c].truths == 0)
            return 1;
    return 0;
}

void ddp_print_precision(const ddp_validation_result *r, int points)
{
    printf("%-20s %8s  %7s  %7s  %11s  %9s  %6s  %11s\n", "class", "boxes", "AP@0.5", "AP@0.75",
           "AP@0.5:0.95", "precision", "recall", "average IoU");
    for (int c = 0; c < r->classes; c++) {
        char number[16];

        (void)snprintf(number, sizeof number, "%d", c);
        print_row(r->names ? r->names[c] : number, &r->each[c]);
    }
    print_row("all", &r->all);
    if (r->all.truths > 0)
        printf("mAP@0.5 %.4f, mAP@0.5:0.95 %.4f: means over the classes of the average precision "
               "at %d recalls; precision, recall and average IoU are those of detections of at "
               "least 25%%%s\n",
               r->all.ap50, r->all.ap, points, has_none(r) ? "; -: no box of the class" : "");
    if (r->name_count > 0 && r->name_count != (size_t)r->classes)
        printf("names= has %zu name%s for classes=%d%s\n", r->name_count, ddp_plural(r->name_count),
               r->classes, r->names ? "" : ": they have numbers here");
    ddp_validation_say_left_out(r);
}

static void put_box(FILE *json, uint32_t picture, int class_id, const ddp_box *b)
{
    (void)fprintf(json, "{\"picture\": %u, \"class\": %d, \"box\": [%.17g, %.17g, %.17g, %.17g]",
                  picture, class_id, b->left, b->top, b->width, b->height);
}

/* Write the boxes of a picture and its truth, on which the figures rest, so that another program
 * can check these. */
static void put_boxes(void *ctx, const ddp_detection *found, size_t count, const ddp_truth *truths,
                      size_t truth_count)
{
    FILE *json = ctx;

    if (!json)
        return;
    (void)fputs("{\"found\": [", json);
    for (size_t i = 0; i < count; i++) {
        (void)fputs(i ? ",\n" : "\n", json);
        put_box(json, found[i].picture, found[i].class_id, &found[i].box);
        (void)fprintf(json, ", \"score\": %.17g}", found[i].score);
    }
    (void)fputs("],\n\"truth\": [", json);
    for (size_t i = 0; i < truth_count; i++) {
        (void)fputs(i ? ",\n" : "\n", json);
        put_box(json, truths[i].picture, truths[i].class_id, &truths[i].box);
        (void)fputc('}', json);
    }
    (void)fputs("]", json);
}

/* Write a number so that it reads back the same, and null for what JSON cannot say. */
static void put_number(FILE *json, const char *before, double value)
{
    (void)fputs(before, json);
    if (isfinite(value))
        (void)fprintf(json, "%.17g", value);
    else
        (void)fputs("null", json);
}

static void put_texts(FILE *json, const char *key, char *const *texts, size_t count)
{
    (void)fprintf(json, ",\n\"%s\": [", key);
    for (size_t i = 0; i < count; i++) {
        (void)fputs(i ? ",\n" : "\n", json);
        ddp_json_text(json, texts[i]);
    }
    (void)fputs("]", json);
}

static void put_figures(FILE *json, const ddp_validation_result *r)
{
    put_number(json, ",\n\"ap\": ", r->all.ap);
    put_number(json, ", \"ap50\": ", r->all.ap50);
    put_number(json, ", \"ap75\": ", r->all.ap75);
    (void)fputs(", \"each\": [", json);
    for (int c = 0; c < r->classes; c++)
        put_number(json, c ? ", " : "", r->each[c].ap);
    (void)fputs("]}\n", json);
}

int ddp_command_map(const ddp_command_call *call)
{
    const ddp_validation_result *result;
    FILE *json = NULL;
    char *const *pictures;
    ddp_evaluate m;
    size_t count;
    ddp_error err;

    ddp_evaluate_open(&m, "detector", call);
    if (ddp_validation_find_labels(m.validation, &err)) {
        if (!call->options->json || call->options->labels_required)
            ddp_rank_output_failure(&err);
        if (m.rank == 0)
            printf("%s: boxes are written, and not measured\n", err.text);
    }
    if (m.rank == 0 && call->options->json)
        json = ddp_output_file_open(call->options->json);
    result = ddp_evaluate_run(&m, put_boxes, json);
    if (m.rank == 0)
        ddp_print_precision(result, call->options->points);
    if (json) {
        pictures = ddp_validation_pictures(m.validation, &count);
        put_texts(json, "pictures", pictures, count);
        if (result->names)
            put_texts(json, "names", result->names, (size_t)result->classes);
        put_figures(json, result);
    }
    ddp_output_file_close(json, call->options->json);
    ddp_evaluate_close(&m);
    return 0;
}
