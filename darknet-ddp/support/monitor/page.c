#include "monitor/page.h"

#include "base/json.h"
#include "monitor/html.h"

#include <string.h>

extern const unsigned char ddp_page_html[]; /* page.html and a zero, by CMakeLists.txt */

/* ---- JSON ---- */

static void put_key(FILE *out, const char *key)
{
    (void)fprintf(out, ",\n\"%s\":", key);
}

static void put_pairs(FILE *out, const char *key, const ddp_page_pair *pairs, size_t count)
{
    put_key(out, key);
    (void)fputc('[', out);
    for (size_t i = 0; i < count; i++) {
        (void)fputs(i ? ",[" : "[", out);
        ddp_json_text(out, pairs[i].name);
        (void)fputc(',', out);
        ddp_json_text(out, pairs[i].value);
        (void)fputc(']', out);
    }
    (void)fputc(']', out);
}

/* ---- the history ---- */

enum statistic { MEAN, LEAST, GREATEST };

static double statistic_of(ddp_history_value v, enum statistic which)
{
    if (which == MEAN)
        return v.mean;
    return which == LEAST ? v.least : v.greatest;
}

static void put_statistic(FILE *out, const ddp_history *h, size_t column, const char *key,
                          enum statistic which)
{
    (void)fprintf(out, "\"%s\":[", key);
    for (size_t p = 0; p < ddp_history_points(h); p++) {
        if (p)
            (void)fputc(',', out);
        ddp_json_number(out, statistic_of(ddp_history_at(h, p, column), which));
    }
    (void)fputc(']', out);
}

static void put_column(FILE *out, const ddp_page *page, size_t column, int band, int *count)
{
    (void)fprintf(out, "%s\n\"%zu\":{", (*count)++ ? "," : "", column);
    put_statistic(out, page->history, column, "mean", MEAN);
    if (band && ddp_history_rows_a_point(page->history) > 1) {
        (void)fputc(',', out);
        put_statistic(out, page->history, column, "least", LEAST);
        (void)fputc(',', out);
        put_statistic(out, page->history, column, "greatest", GREATEST);
    }
    (void)fputc('}', out);
}

static void put_columns(FILE *out, const ddp_page *page)
{
    int count = 0;

    put_key(out, "columns");
    (void)fputc('{', out);
    for (size_t c = 0; c < page->chart_count; c++) {
        const ddp_page_chart *chart = &page->charts[c];

        for (size_t s = 0; s < chart->series_count; s++)
            put_column(out, page, chart->series[s].column, chart->band, &count);
    }
    (void)fputc('}', out);
}

static void put_x(FILE *out, const ddp_history *h)
{
    put_key(out, "x");
    (void)fputc('[', out);
    for (size_t p = 0; p < ddp_history_points(h); p++)
        (void)fprintf(out, "%s%.15g", p ? "," : "", ddp_history_x(h, p));
    (void)fputc(']', out);
}

static void put_chart(FILE *out, const ddp_page_chart *chart)
{
    (void)fputs("\n{\"title\":", out);
    ddp_json_text(out, chart->title);
    (void)fputs(",\"unit\":", out);
    ddp_json_text(out, chart->unit);
    (void)fprintf(out, ",\"stack\":%d,\"log\":%d,\"band\":%d,\"zero\":%d,\"one\":%d,\"series\":[",
                  chart->stack, chart->log, chart->band, chart->zero, chart->one);
    for (size_t s = 0; s < chart->series_count; s++) {
        (void)fprintf(out, "%s[\"%zu\",", s ? "," : "", chart->series[s].column);
        ddp_json_text(out, chart->series[s].name);
        (void)fputc(']', out);
    }
    (void)fputs("]}", out);
}

static void put_charts(FILE *out, const ddp_page *page)
{
    put_key(out, "charts");
    (void)fputc('[', out);
    for (size_t c = 0; c < page->chart_count; c++) {
        if (c)
            (void)fputc(',', out);
        put_chart(out, &page->charts[c]);
    }
    (void)fputc(']', out);
}

/* ---- validation ---- */

static void put_classes(FILE *out, const ddp_page *page)
{
    put_key(out, "classes");
    (void)fputc('[', out);
    for (size_t i = 0; i < page->class_count; i++) {
        (void)fputs(i ? ",[" : "[", out);
        ddp_json_text(out, page->classes[i].name);
        (void)fputc(',', out);
        ddp_json_number(out, page->classes[i].ap);
        (void)fprintf(out, ",%zu]", page->classes[i].truths);
    }
    (void)fputc(']', out);
}

static void put_confusion(FILE *out, const ddp_page *page)
{
    size_t n = page->confusion_count;

    put_key(out, "confusion");
    if (!page->confusion) {
        (void)fputs("null", out);
        return;
    }
    (void)fputs("{\"names\":[", out);
    for (size_t i = 0; i < n; i++) {
        if (i)
            (void)fputc(',', out);
        ddp_json_text(out, page->confusion_names[i]);
    }
    (void)fputs("],\"rows\":[", out);
    for (size_t i = 0; i < n * n; i++) {
        (void)fputs(i % n ? "," : i ? "],[" : "[", out);
        ddp_json_number(out, page->confusion[i]);
    }
    (void)fputs(n ? "]]}" : "]}", out);
}

static void put_boxes(FILE *out, const ddp_page_picture *p)
{
    (void)fputs(",\"boxes\":[", out);
    for (size_t i = 0; i < p->box_count; i++) {
        const ddp_page_box *b = &p->boxes[i];

        (void)fprintf(out, "%s[%.4f,%.4f,%.4f,%.4f,%d,", i ? "," : "", b->left, b->top, b->width,
                      b->height, b->found);
        ddp_json_text(out, b->name);
        (void)fputc(',', out);
        ddp_json_number(out, b->score);
        (void)fputc(']', out);
    }
    (void)fputc(']', out);
}

static void put_pictures(FILE *out, const ddp_page *page)
{
    put_key(out, "pictures");
    (void)fputc('[', out);
    for (size_t i = 0; i < page->picture_count; i++) {
        const ddp_page_picture *p = &page->pictures[i];

        (void)fputs(i ? ",{\"caption\":" : "{\"caption\":", out);
        ddp_json_text(out, p->caption);
        (void)fprintf(out, ",\"src\":\"data:%s;base64,", p->mime);
        ddp_html_base64(out, p->bytes, p->count);
        (void)fputc('"', out);
        put_boxes(out, p);
        (void)fputc('}', out);
    }
    (void)fputc(']', out);
}

/* ---- the page ---- */

static void put_data(FILE *out, const ddp_page *page)
{
    (void)fputs("{\"title\":", out);
    ddp_json_text(out, page->title);
    put_key(out, "status");
    ddp_json_text(out, page->status);
    put_key(out, "written");
    ddp_json_text(out, page->written);
    put_key(out, "x_name");
    ddp_json_text(out, page->x_name);
    put_x(out, page->history);
    put_columns(out, page);
    put_charts(out, page);
    put_pairs(out, "tiles", page->tiles, page->tile_count);
    put_pairs(out, "facts", page->facts, page->fact_count);
    put_classes(out, page);
    put_confusion(out, page);
    put_pictures(out, page);
    (void)fputc('}', out);
}

void ddp_page_write(FILE *out, const ddp_page *page)
{
    static const char mark[] = "@DATA@";
    const char *html = (const char *)ddp_page_html;
    const char *place = strstr(html, mark);

    (void)fwrite(html, 1, (size_t)(place - html), out);
    put_data(out, page);
    (void)fputs(place + sizeof mark - 1, out);
}
