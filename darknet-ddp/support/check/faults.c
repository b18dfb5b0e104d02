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

void ddp_faults_append(ddp_faults *f, const char *text, size_t bytes)
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
    ddp_faults_append(f, whole, (size_t)n);
}

void ddp_check_bom(ddp_faults *f, const char *file, int has_mark)
{
    if (has_mark)
        ddp_fault_add(f, DDP_FAULT_WARNING, "byte-order-mark", file, 1,
                      "begins with a byte-order mark, which is skipped here and may not be "
                      "elsewhere: save it as UTF-8 without one");
}

int ddp_faults_have(const ddp_faults *f, const char *kind)
{
    char column[64];

    (void)snprintf(column, sizeof column, "\t%s", kind);
    return f->text && strstr(f->text, column) != NULL;
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
