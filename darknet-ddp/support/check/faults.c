#include "check/faults.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int reserve(ddp_faults *f, size_t more)
{
    size_t room = f->room ? f->room : 4096;
    char *text;

    while (room < f->bytes + more + 1)
        room *= 2;
    if (room == f->room)
        return 1;
    text = realloc(f->text, room);
    if (!text) {
        f->lost = 1;
        return 0;
    }
    f->text = text;
    f->room = room;
    return 1;
}

static void blank_out(char *text)
{
    for (; *text; text++)
        if (*text == '\t' || *text == '\n' || *text == '\r')
            *text = ' ';
}

static void append(ddp_faults *f, const char *text, size_t bytes)
{
    if (!reserve(f, bytes))
        return;
    memcpy(f->text + f->bytes, text, bytes);
    f->bytes += bytes;
    f->text[f->bytes] = 0;
}

void ddp_fault_add(ddp_faults *f, ddp_fault_level level, const char *kind, const char *file,
                   int line, const char *fmt, ...)
{
    char sentence[1024], name[4096], whole[6144];
    va_list args;
    int n;

    va_start(args, fmt);
    (void)vsnprintf(sentence, sizeof sentence, fmt, args);
    va_end(args);
    (void)snprintf(name, sizeof name, "%s", file);
    blank_out(sentence);
    blank_out(name);
    n = snprintf(whole, sizeof whole, "%d\t%d\t%s\t%s\t%s\n", (int)level, line, kind, name,
                 sentence);
    append(f, whole, (size_t)n);
}

void ddp_check_bom(ddp_faults *f, const char *file, int has_mark)
{
    if (has_mark)
        ddp_fault_add(f, DDP_FAULT_WARNING, "byte-order-mark", file, 1,
                      "begins with a byte-order mark, which is skipped here and may not be "
                      "elsewhere: save it as UTF-8 without one");
}

/* ---- once ---- */

/* A line of the text. Its first `same` bytes are equal in lines that are one fault. */
struct row {
    const char *at;
    size_t same, bytes;
};

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = *(const struct row *const *)a, *y = *(const struct row *const *)b;
    int order = memcmp(x->at, y->at, x->same < y->same ? x->same : y->same);

    if (!order)
        order = (x->same > y->same) - (x->same < y->same);
    return order ? order : (x > y) - (x < y);
}

static struct row row_at(const char *at)
{
    struct row row = {.at = at, .bytes = strcspn(at, "\n") + 1};
    const char *kind = at;

    for (int tabs = 0; tabs < 2; kind++)
        tabs += *kind == '\t';
    row.same = row.bytes;
    if (strncmp(kind, "picture-", 8) == 0) { /* its text names its place in a list */
        kind += strcspn(kind, "\t") + 1;
        row.same = (size_t)(kind - at) + strcspn(kind, "\t");
    }
    return row;
}

/* Empty each row that is the same as an earlier one. */
static void drop_twice(struct row *rows, const struct row **sorted, size_t count)
{
    for (size_t i = 0, first = 0; i < count; i++) {
        const struct row *x = sorted[first], *y = sorted[i];

        if (i > first && x->same == y->same && memcmp(x->at, y->at, x->same) == 0)
            rows[y - rows].bytes = 0;
        else
            first = i;
    }
}

void ddp_faults_unique(ddp_faults *f)
{
    size_t count = 0, bytes = 0;
    struct row *rows;
    const struct row **sorted;

    for (size_t i = 0; i < f->bytes; i++)
        count += f->text[i] == '\n';
    rows = calloc(count + 1, sizeof *rows);
    sorted = calloc(count + 1, sizeof *sorted);
    if (rows && sorted) {
        for (size_t i = 0, at = 0; i < count; at += rows[i++].bytes) {
            rows[i] = row_at(f->text + at);
            sorted[i] = &rows[i];
        }
        qsort(sorted, count, sizeof *sorted, compare_rows);
        drop_twice(rows, sorted, count);
        for (size_t i = 0; i < count; bytes += rows[i++].bytes)
            memmove(f->text + bytes, rows[i].at, rows[i].bytes);
        f->bytes = bytes;
        if (f->text)
            f->text[bytes] = 0;
    }
    free(rows);
    free(sorted);
}

/* ---- asked ---- */

int ddp_faults_have(const ddp_faults *f, const char *kind)
{
    for (const char *row = f->text; row && *row; row += strcspn(row, "\n") + 1) {
        const char *column = row;

        for (int tabs = 0; tabs < 2; column++)
            tabs += *column == '\t';
        if (strncmp(column, kind, strlen(kind)) == 0)
            return 1;
    }
    return 0;
}

void ddp_faults_release(ddp_faults *f)
{
    free(f->text);
    *f = (ddp_faults){0};
}

void ddp_faults_each(ddp_faults *f, void (*each)(void *ctx, const ddp_fault *fault), void *ctx)
{
    char *rows = f->text, *row;

    while (rows && (row = strsep(&rows, "\n")) && *row) {
        ddp_fault fault = {0};

        fault.level = atoi(strsep(&row, "\t")) ? DDP_FAULT_ERROR : DDP_FAULT_WARNING;
        fault.line = atoi(strsep(&row, "\t"));
        fault.kind = strsep(&row, "\t");
        fault.file = strsep(&row, "\t");
        fault.text = row;
        each(ctx, &fault);
    }
}
