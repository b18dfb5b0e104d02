/* Ranks labels that may be wrong or missing, and writes all of them as JSON, and the first ones to
 * the terminal, to a page and to label files to review (`darknet ddp suspects`). */
#include "base/json.h"
#include "base/plural.h"
#include "eval/loss_file.h"
#include "predict/label_source.h"
#include "predict/sinks.h"
#include "predict/suspects.h"
#include "predict/truths.h"
#include "samples/transforms.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EACH_LEAST = 20, EACH_MOST = 100, LABELS_FOR_EACH = 100, TERMINAL_LINES = 20 };

struct sink {
    ddp_suspect_list all;
    ddp_suspects_files files;
    ddp_loss_file losses; /* of labels in training; all zero: not known */
    size_t pictures;
};

static ddp_status no_memory(ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the ranking of labels");
}

/* Set the losses of the labels of the picture at path, as far as they are known. */
static void set_losses(const ddp_loss_file *f, const char *path, ddp_label_truth *labels,
                       size_t count)
{
    char file[DDP_LABEL_PATH_BYTES];
    const ddp_loss_line *lines;
    size_t known;

    ddp_label_path(path, file);
    lines = ddp_loss_file_of(f, path, file, &known);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < known; k++)
            if (lines[k].line == (unsigned)labels[i].line)
                labels[i].loss = lines[k].mean;
}

static ddp_status take(void *ctx, ddp_prediction *p, ddp_error *err)
{
    struct sink *s = ctx;
    static ddp_truth truths[DDP_TRUTHS_MOST];
    static int lines[DDP_TRUTHS_MOST];
    static ddp_label_truth labels[DDP_TRUTHS_MOST];
    size_t count;

    if (p->why[0] || p->is_frame)
        return DDP_OK;
    count = ddp_truths_read(truths, lines, p->path, s->all.config->classes);
    for (size_t i = 0; i < count; i++)
        labels[i] = (ddp_label_truth){.truth = truths[i], .line = lines[i]};
    set_losses(&s->losses, p->path, labels, count);
    s->pictures++;
    return ddp_suspects_add(&s->all.ranking, (uint32_t)p->number, labels, count, p->found, p->count)
               ? no_memory(err)
               : DDP_OK;
}

/* ---- the terminal ---- */

static void print_counts(const struct sink *s)
{
    const ddp_suspects *r = &s->all.ranking;

    printf("%zu picture%s, %zu label%s; suspects:", s->pictures, ddp_plural(s->pictures), r->labels,
           ddp_plural(r->labels));
    for (int k = 0; k < DDP_SUSPECT_KINDS; k++)
        printf("%s %zu %s", k ? "," : "", s->all.counts[k], ddp_suspect_word((ddp_suspect_kind)k));
    (void)putchar('\n');
}

static void print(const struct sink *s)
{
    const ddp_suspects *r = &s->all.ranking;
    char text[DDP_SUSPECT_TEXT], place[DDP_SUSPECT_WHERE];

    print_counts(s);
    if (ddp_suspects_warn(&s->all, text))
        printf("%s\n", text);
    for (size_t i = 0; i < r->count && i < TERMINAL_LINES; i++) {
        ddp_suspect_describe(&s->all, &r->list[i], text);
        ddp_suspect_place(&s->all, &r->list[i], place);
        printf("%4zu  %.2f  %-7s  %s  %s\n", i + 1, r->list[i].doubt,
               ddp_suspect_word(r->list[i].kind), place, text);
    }
}

/* ---- JSON ---- */

static void put_box(FILE *f, const ddp_suspect_list *all, const ddp_truth *t)
{
    (void)fprintf(f, "{\"class\": %d, \"name\": ", t->class_id);
    ddp_json_text(f, all->config->names[t->class_id]);
    (void)fprintf(f, ", \"x\": %.9g, \"y\": %.9g, \"width\": %.9g, \"height\": %.9g",
                  t->box.left + t->box.width / 2, t->box.top + t->box.height / 2, t->box.width,
                  t->box.height);
}

/* Write where the annotations have a label that was imported; line 0: the picture. */
static void put_source(FILE *f, const char *labels, int line)
{
    ddp_label_source source;

    if (!ddp_label_source_read(&source, labels, line))
        return;
    (void)fputs(", \"source\": ", f);
    ddp_json_text(f, source.file);
    if (source.object[0]) {
        (void)fputs(", \"object\": ", f);
        ddp_json_text(f, source.object);
    }
}

static void put_suspect(FILE *f, const ddp_suspect_list *all, const ddp_suspect *s)
{
    char path[DDP_LABEL_PATH_BYTES];

    ddp_label_path(all->config->paths[s->picture], path);
    (void)fprintf(f, "{\"doubt\": %.6f, \"kind\": \"%s\", \"picture\": ", s->doubt,
                  ddp_suspect_word(s->kind));
    ddp_json_text(f, all->config->paths[s->picture]);
    (void)fputs(", \"labels\": ", f);
    ddp_json_text(f, path);
    put_source(f, path, s->label.line);
    if (s->label.line) {
        (void)fputs(",\n  \"label\": ", f);
        put_box(f, all, &s->label.truth);
        (void)fprintf(f, ", \"line\": %d", s->label.line);
        if (s->label.loss > 0)
            (void)fprintf(f, ", \"loss\": %.9g", s->label.loss);
        (void)fputs("}", f);
    }
    if (s->has_other && s->other.line) {
        (void)fputs(",\n  \"second\": ", f);
        put_box(f, all, &s->other.truth);
        (void)fprintf(f, ", \"line\": %d}", s->other.line);
    } else if (s->has_other) {
        (void)fputs(",\n  \"found\": ", f);
        put_box(f, all, &s->other.truth);
        (void)fprintf(f, ", \"score\": %.6f}", s->score);
    }
    (void)fputs("}", f);
}

static void put_json(FILE *f, const ddp_suspect_list *all)
{
    (void)fputs("{\"suspects\": [", f);
    for (size_t i = 0; i < all->ranking.count; i++) {
        (void)fputs(i ? ",\n" : "\n", f);
        put_suspect(f, all, &all->ranking.list[i]);
    }
    (void)fputs("]}\n", f);
}

/* ---- all of it ---- */

/* Write a file. Its text is made before it is opened, so Ctrl-C does not leave half of it. */
static ddp_status write_file(const char *path, const ddp_suspect_list *all,
                             void (*put)(FILE *f, const ddp_suspect_list *all), ddp_error *err)
{
    char *text = NULL;
    size_t bytes;
    FILE *memory = open_memstream(&text, &bytes), *f = NULL;
    ddp_status st = DDP_OK;

    if (memory)
        put(memory, all);
    if (!memory || (ferror(memory) | fclose(memory)))
        st = no_memory(err);
    if (!st && (!(f = fopen(path, "we")) || fwrite(text, 1, bytes, f) != bytes))
        st = ddp_fail(err, DDP_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    if (f && fclose(f) && !st)
        st = ddp_fail(err, DDP_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    free(text);
    return st;
}

/* Choose what the page shows, of the ranking that is made. */
static ddp_status choose_shown(ddp_suspect_list *all, ddp_error *err)
{
    size_t each = all->ranking.labels / LABELS_FOR_EACH;

    all->each = each < EACH_LEAST ? EACH_LEAST : each < EACH_MOST ? each : EACH_MOST;
    all->shown = calloc(DDP_SUSPECT_KINDS * all->each, sizeof *all->shown);
    if (!all->shown)
        return no_memory(err);
    for (int kind = 0; kind < DDP_SUSPECT_KINDS; kind++)
        for (size_t i = 0; i < all->ranking.count; i++)
            if ((int)all->ranking.list[i].kind == kind && all->counts[kind]++ < all->each)
                all->shown[all->shown_count++] = i;
    return DDP_OK;
}

static ddp_status write_all(struct sink *s, ddp_error *err)
{
    ddp_suspects_rank(&s->all.ranking);
    if (choose_shown(&s->all, err))
        return err->code;
    print(s);
    if ((s->files.json && write_file(s->files.json, &s->all, put_json, err))
        || (s->files.page && write_file(s->files.page, &s->all, ddp_suspects_put_page, err))
        || (s->files.review && ddp_suspects_write_labels(&s->all, s->files.review, err)))
        return err->code;
    if (s->files.page)
        printf("%s shows the first %zu of each kind\n", s->files.page, s->all.each);
    return DDP_OK;
}

static ddp_status close_suspects(void *ctx, ddp_error *err)
{
    struct sink *s = ctx;
    ddp_status st = write_all(s, err);

    ddp_suspects_release(&s->all.ranking);
    ddp_loss_file_release(&s->losses);
    free(s->all.shown);
    free(s);
    return st;
}

ddp_status ddp_suspects_sink_open(ddp_sink *sink, const ddp_sink_config *config,
                                  const ddp_suspects_files *files, ddp_error *err)
{
    struct sink *s = calloc(1, sizeof *s);

    if (!s)
        return no_memory(err);
    s->all.config = config;
    s->all.ranking.classes = config->classes;
    s->all.ranking.views = config->views;
    s->files = *files;
    if (files->losses && ddp_loss_file_read(&s->losses, files->losses, err)) {
        ddp_loss_file_release(&s->losses);
        free(s);
        return err->code;
    }
    *sink = (ddp_sink){.ctx = s, .take = take, .close = close_suspects};
    return DDP_OK;
}
