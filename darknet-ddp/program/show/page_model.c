#include "show/page_model.h"

#include "base/plural.h"
#include "monitor/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHARTS = 8 + DDP_HEADS, TILES = 8, FACTS = 32, TEXT = 160 };

/* Memory that a page points to while it is written. */
struct contents {
    ddp_page_chart charts[CHARTS];
    ddp_page_pair tiles[TILES], facts[FACTS];
    char texts[TILES + FACTS][TEXT];
    char ranks[DDP_WAITS_COLUMNS][32];
    char heads[DDP_HEADS][64];
    size_t chart_count, tile_count, fact_count, text_count;
};

/* ---- charts ---- */

static ddp_page_chart *add_chart(struct contents *p, const char *title, const char *unit)
{
    ddp_page_chart *chart = &p->charts[p->chart_count++];

    *chart = (ddp_page_chart){.title = title, .unit = unit, .band = 1};
    return chart;
}

static void add_series(ddp_page_chart *chart, size_t column, const char *name)
{
    if (chart->series_count < DDP_PAGE_SERIES)
        chart->series[chart->series_count++] = (ddp_page_series){column, name};
}

static void add_loss(struct contents *p)
{
    ddp_page_chart *loss = add_chart(p, "Loss", "");
    ddp_page_chart *rate = add_chart(p, "Learning rate", "");

    loss->log = 1;
    add_series(loss, DDP_COLUMN_LOSS, "of the step");
    add_series(loss, DDP_COLUMN_AVERAGE, "average");
    rate->zero = 1;
    add_series(rate, DDP_COLUMN_RATE, "rate");
}

/* Charts of the validation. Its columns are shares of 1, but for the last of a classifier, which is
 * a loss. */
static void add_validation(struct contents *p, const ddp_csv_columns *c)
{
    ddp_page_chart *all, *each;
    size_t end = c->classes ? c->each : c->heads;

    if (!c->key)
        return;
    all = add_chart(p, "Validation", "");
    all->one = 1;
    all->band = 0;
    for (size_t i = DDP_COLUMNS; i < end; i++)
        if (strcmp(c->names[i], "validation_loss") != 0)
            add_series(all, i, c->names[i]);
    if (c->classes == 0 || c->classes > DDP_PAGE_SERIES)
        return;
    each = add_chart(p, "Average precision of each class", "");
    each->one = 1;
    each->band = 0;
    for (size_t i = 0; i < c->classes; i++)
        add_series(each, c->each + i, c->names[c->each + i] + strlen("ap_"));
}

/* Add a chart for each head: columns "yolo_82_box" and so on are of "[yolo], layer 82". */
static void add_heads(struct contents *p, const ddp_csv_columns *c)
{
    static const char *const names[] = {"box", "objectness", "class"};

    for (size_t h = 0; h < c->head_count; h++) {
        size_t first = c->heads + h * DDP_HEAD_COLUMNS;
        const char *name = c->names[first], *kind_ends = strchr(name, '_');
        int kind = (int)(kind_ends - name), number = (int)strcspn(kind_ends + 1, "_");
        ddp_page_chart *chart;

        (void)snprintf(p->heads[h], sizeof p->heads[h], "Loss of [%.*s], layer %.*s, on rank 0",
                       kind, name, number, kind_ends + 1);
        chart = add_chart(p, p->heads[h], "");
        chart->log = 1;
        for (size_t part = 0; part < sizeof names / sizeof names[0]; part++)
            add_series(chart, first + part, names[part]);
    }
}

static void add_speed(struct contents *p)
{
    static const struct {
        size_t column;
        const char *name;
    } parts[] = {{DDP_COLUMN_LOADER, "loader"},     {DDP_COLUMN_FORWARD, "forward"},
                 {DDP_COLUMN_BACKWARD, "backward"}, {DDP_COLUMN_COMMUNICATION, "communication"},
                 {DDP_COLUMN_UPDATE, "update"},     {DDP_COLUMN_SAVE, "saving"}};
    ddp_page_chart *speed = add_chart(p, "Images a second", "");
    ddp_page_chart *where = add_chart(p, "Where a step's time goes on rank 0", "s");

    speed->zero = 1;
    add_series(speed, DDP_COLUMN_SPEED, "images/s");
    where->stack = 1;
    where->zero = 1;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        add_series(where, parts[i].column, parts[i].name);
}

static void add_waits(struct contents *p, const ddp_page_model *run)
{
    static const char *const of_many[] = {"least: is waited for", "mean", "most"};
    int size = ddp_group_size(run->waits->group);
    int series = size > DDP_WAITS_COLUMNS ? 3 : size;
    ddp_page_chart *chart;

    if (size < 2)
        return;
    chart = add_chart(p, "Each rank's wait: the least is waited for", "share of its time");
    chart->one = 1;
    chart->band = 0;
    for (int r = 0; r < series; r++) {
        (void)snprintf(p->ranks[r], sizeof p->ranks[r], "rank %d", r);
        add_series(chart, run->columns->count + (size_t)r,
                   size > DDP_WAITS_COLUMNS ? of_many[r] : p->ranks[r]);
    }
}

/* ---- figures and facts ---- */

static char *next_text(struct contents *p)
{
    return p->texts[p->text_count++];
}

static void add_tile(struct contents *p, const char *name, int decimals, double value)
{
    char *text = next_text(p);

    if (isnan(value))
        return;
    (void)snprintf(text, TEXT, "%.*f", decimals, value);
    p->tiles[p->tile_count++] = (ddp_page_pair){name, text};
}

static void add_tiles(struct contents *p, const ddp_page_model *run)
{
    const char *name;
    double best;
    size_t step;
    char *left;

    add_tile(p, "average loss", 4, run->row[DDP_COLUMN_AVERAGE]);
    if (ddp_validation_best(run->validation, &name, &best, &step)) {
        char *title = next_text(p);

        (void)snprintf(title, TEXT, "best %s, step %zu", name, step);
        add_tile(p, title, 4, best);
    }
    add_tile(p, "images/s", 1, run->row[DDP_COLUMN_SPEED]);
    add_tile(p, "epochs", 2, run->row[DDP_COLUMN_EPOCH]);
    add_tile(p, "MiB of memory, rank 0", 0, run->row[DDP_COLUMN_MEMORY]);
    if (isnan(run->remaining_s))
        return;
    left = next_text(p);
    ddp_duration(run->remaining_s, left, TEXT);
    p->tiles[p->tile_count++] = (ddp_page_pair){"left", left};
}

static void add_fact(struct contents *p, const char *name, const char *value, size_t bytes)
{
    char *text;

    if (p->fact_count == FACTS - 2) /* two more are added at the end */
        return;
    text = next_text(p);
    (void)snprintf(text, TEXT, "%.*s", (int)bytes, value);
    p->facts[p->fact_count++] = (ddp_page_pair){name, text};
}

static void add_straggler(struct contents *p, const ddp_page_model *run)
{
    const ddp_wait_shares *w = run->waits;
    char text[TEXT];
    int least, most, used;

    if (ddp_group_size(w->group) < 2 || !ddp_wait_shares_range(w, &least, &most))
        return;
    used = snprintf(
        text, sizeof text, "rank %d on %s waits least, %.1f%% of its time; rank %d %.1f%%", least,
        ddp_group_host(w->group, least), 100 * w->shares[least], most, 100 * w->shares[most]);
    if (used > 0)
        add_fact(p, "Waits", text, (size_t)used);
}

/* Each line of the banner becomes a fact of the page. */
static void add_banner(struct contents *p, const ddp_page_model *run)
{
    const char *name = "Run";

    for (const char *line = run->banner; line && *line;) {
        size_t bytes = strcspn(line, "\n");

        add_fact(p, name, line, bytes);
        name = "";
        line += bytes + (line[bytes] == '\n');
    }
}

/* ---- all of it ---- */

/* Return the classes with their figures, which the caller frees. NULL: no memory, or nothing is
 * known. */
static ddp_page_class *classes_of(const ddp_page_model *run, size_t *count)
{
    const ddp_validation_result *r = ddp_validation_last(run->validation);
    ddp_page_class *all;

    *count = 0;
    if (!r || r->is_classifier || !r->names)
        return NULL;
    all = calloc((size_t)r->classes, sizeof *all);
    for (int i = 0; all && i < r->classes; i++)
        all[(*count)++] = (ddp_page_class){.name = r->names[i],
                                           .ap = r->each[i].truths ? r->each[i].ap : (double)NAN,
                                           .truths = r->each[i].truths};
    return all;
}

static void write_date(char *text, size_t size)
{
    time_t now = time(NULL);
    struct tm local;

    text[0] = 0;
    if (localtime_r(&now, &local))
        (void)strftime(text, size, "%Y-%m-%d %H:%M:%S", &local);
}

static void fill(struct contents *p, const ddp_page_model *run)
{
    add_loss(p);
    add_validation(p, run->columns);
    add_heads(p, run->columns);
    add_speed(p);
    add_waits(p, run);
    add_tiles(p, run);
    add_straggler(p, run);
    add_banner(p, run);
    p->facts[p->fact_count++] = (ddp_page_pair){"Command", run->command};
    p->facts[p->fact_count++] = (ddp_page_pair){"Program", "darknet-ddp " DDP_VERSION};
}

int ddp_page_model_write(FILE *out, const ddp_page_model *run)
{
    struct contents *p = calloc(1, sizeof *p);
    char status[TEXT], date[64];
    size_t class_count;
    ddp_page_class *classes = classes_of(run, &class_count);
    int done = p != NULL;

    write_date(date, sizeof date);
    if (run->now.last_step > 0)
        (void)snprintf(status, sizeof status, "step %zu of %zu, %s", run->now.step,
                       run->now.last_step, run->status);
    else
        (void)snprintf(status, sizeof status, "step %zu, %s", run->now.step, run->status);
    if (p) {
        ddp_page page;

        fill(p, run);
        page = (ddp_page){.title = run->name,
                          .status = status,
                          .written = date,
                          .x_name = "step",
                          .history = run->history,
                          .charts = p->charts,
                          .chart_count = p->chart_count,
                          .tiles = p->tiles,
                          .tile_count = p->tile_count,
                          .facts = p->facts,
                          .fact_count = p->fact_count,
                          .classes = classes,
                          .class_count = class_count};
        ddp_page_pictures_show(run->views, &page);
        ddp_page_write(out, &page);
    }
    free(classes);
    free(p);
    return done;
}
