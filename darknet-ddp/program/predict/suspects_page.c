/* The page of `darknet ddp suspects`: by kind of fault, cards of the labels that are most likely
 * wrong or missing, each with the part of the picture around it. */
#include "monitor/html.h"
#include "predict/label_source.h"
#include "predict/suspects.h"
#include "samples/thumbnail.h"
#include "show/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 256 };

static const double surroundings = 0.8; /* of the boxes, on each side of them */
static const double least_part = 0.25;  /* of the picture is shown at least */
static const char label_colour[] = "#ffd028", other_colour[] = "#35d0ff";

/* Return the part of a picture that shows both boxes of a suspect and what is around them. */
static ddp_box part_of(const ddp_suspect *s)
{
    const ddp_box *a = s->label.line ? &s->label.truth.box : &s->other.truth.box;
    const ddp_box *b = s->has_other ? &s->other.truth.box : a;
    double left = fmin(a->left, b->left), right = fmax(a->left + a->width, b->left + b->width);
    double top = fmin(a->top, b->top), bottom = fmax(a->top + a->height, b->top + b->height);
    double width = fmax(least_part, (right - left) * (1 + 2 * surroundings));
    double height = fmax(least_part, (bottom - top) * (1 + 2 * surroundings));

    return (ddp_box){(left + right - width) / 2, (top + bottom - height) / 2, width, height};
}

static ddp_box inside(const ddp_box *part, const ddp_box *b)
{
    return (ddp_box){(b->left - part->left) / part->width, (b->top - part->top) / part->height,
                     b->width / part->width, b->height / part->height};
}

static void put_picture(FILE *f, const ddp_suspect_list *all, const ddp_suspect *s)
{
    ddp_box part = part_of(s);
    ddp_thumbnail t = ddp_thumbnail_of(all->config->paths[s->picture], &part, PIXELS);
    ddp_html_box boxes[2];
    char name[128];
    size_t count = 0;

    if (!t.bytes)
        return;
    if (s->label.line)
        boxes[count++] = (ddp_html_box){.box = inside(&part, &s->label.truth.box),
                                        .name = all->config->names[s->label.truth.class_id],
                                        .colour = label_colour};
    if (s->has_other) {
        (void)snprintf(name, sizeof name, s->other.line ? "%.100s" : "%.100s %.2f",
                       all->config->names[s->other.truth.class_id], s->score);
        boxes[count++] = (ddp_html_box){.box = inside(&part, &s->other.truth.box),
                                        .name = name,
                                        .colour = other_colour,
                                        .is_dashed = 1};
    }
    ddp_html_jpeg(f, t.bytes, t.count, t.width, t.height, boxes, count);
    free(t.bytes);
}

/* Write a link to a file, whose path is as the list has it. */
static void put_link(FILE *f, const char *path, const char *text)
{
    char *whole = realpath(path, NULL);

    if (whole) {
        (void)fputs("<a href=\"file://", f);
        for (const char *c = whole; *c; c++) {
            if (*c == '%' || *c == '#' || *c == '?' || *c == '"')
                (void)fprintf(f, "%%%02X", (unsigned)*c);
            else
                (void)fputc(*c, f);
        }
        (void)fputs("\">", f);
    }
    ddp_html_text(f, text);
    if (whole)
        (void)fputs("</a>", f);
    free(whole);
}

static void put_card(FILE *f, const ddp_suspect_list *all, size_t i)
{
    const ddp_suspect *s = &all->ranking.list[i];
    char text[DDP_SUSPECT_TEXT], place[DDP_SUSPECT_WHERE], *file;
    ddp_label_source source;
    size_t end;

    ddp_suspect_describe(all, s, text);
    ddp_suspect_place(all, s, place);
    end = strlen(place);
    while (s->label.line && place[--end] != ':')
        ;
    file = strndup(place, end);
    (void)fputs("<div class=\"card\">", f);
    put_picture(f, all, s);
    (void)fprintf(f, "<b>%zu</b> %s, %.2f: ", i + 1, ddp_suspect_word(s->kind), s->doubt);
    ddp_html_text(f, text);
    (void)fputs("<br>", f);
    put_link(f, all->config->paths[s->picture], all->config->paths[s->picture]);
    (void)fputs("<br>", f);
    if (file)
        put_link(f, file, place);
    if (file && ddp_label_source_read(&source, file, s->label.line)) {
        (void)fputs("<br>", f);
        put_link(f, source.file, source.file);
        (void)fprintf(f, " %s", source.object);
    }
    (void)fputs("</div>\n", f);
    free(file);
}

static const char *const meanings[DDP_SUSPECT_KINDS] = {
    [DDP_SUSPECT_TWICE] = "two labels on one thing",
    [DDP_SUSPECT_CLASS] = "another class is found at the place of the label",
    [DDP_SUSPECT_PLACE] = "something is found that covers the label in part",
    [DDP_SUSPECT_MISSING] = "something is found where no label is",
    [DDP_SUSPECT_EXTRA] = "a label that is not found, or was not learnt"};

/* Write a heading and the cards of a kind; shown: its place in all->shown, which is moved on. */
static void put_kind(FILE *f, const ddp_suspect_list *all, ddp_suspect_kind kind, size_t *shown)
{
    const char *word = ddp_suspect_word(kind);
    size_t count = all->counts[kind] < all->each ? all->counts[kind] : all->each;
    char text[64];
    const ddp_line_segment progress = {NULL, text};

    (void)fprintf(f, "<h2 id=\"%s\">%s: %s</h2>\n<p>%zu of %zu</p>\n<div class=\"grid\">\n", word,
                  word, meanings[kind], count, all->counts[kind]);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(text, sizeof text, "page: %zu/%zu", *shown, all->shown_count);
        ddp_terminal_show(&progress, 1);
        put_card(f, all, all->shown[(*shown)++]);
    }
    (void)fputs("</div>\n", f);
}

void ddp_suspects_put_page(FILE *f, const ddp_suspect_list *all)
{
    char text[DDP_SUSPECT_TEXT];
    size_t shown = 0;

    ddp_html_begin(f, "Labels that may be wrong");
    if (ddp_suspects_warn(all, text))
        (void)fprintf(f, "<p><b>%s</b></p>\n", text);
    (void)fprintf(f, "<p>%zu suspects among %zu labels of <code>", all->ranking.count,
                  all->ranking.labels);
    ddp_html_text(f, all->config->data);
    (void)fprintf(f,
                  "</code>; of each kind at most %zu, the most doubtful first. A number is the "
                  "place in the ranking of all kinds. <b style=\"color:%s\">Whole lines</b> are "
                  "labels, <b style=\"color:%s\">dashed ones</b> what the network finds there, "
                  "with its score, or a second label.</p>\n<p>",
                  all->each, label_colour, other_colour);
    for (int k = 0; k < DDP_SUSPECT_KINDS; k++) {
        const char *word = ddp_suspect_word((ddp_suspect_kind)k);

        (void)fprintf(f, "<a href=\"#%s\">%s</a> %zu ", word, word, all->counts[k]);
    }
    (void)fputs("</p>\n", f);
    for (int k = 0; k < DDP_SUSPECT_KINDS; k++)
        put_kind(f, all, (ddp_suspect_kind)k, &shown);
    ddp_html_end(f);
}
