/* Writes the values of options in words (for banners, checkpoints and comparisons of ranks), and
 * the help, both from the table of options. */
#include "options/table.h"

#include "base/plural.h"
#include "options/columns.h"

#include <ctype.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const ddp_option ddp_option_table[] = {
#define ROW(kind, field, name, argument, low, high, fallback, shown, scope, columns, meaning)      \
    {DDP_OPTION_KIND_##kind,                                                                       \
     offsetof(ddp_options, field),                                                                 \
     name,                                                                                         \
     argument,                                                                                     \
     low,                                                                                          \
     high,                                                                                         \
     fallback,                                                                                     \
     shown,                                                                                        \
     DDP_OPTION_SCOPE_##scope,                                                                     \
     columns,                                                                                      \
     meaning},
#define GROUP(field, ...)
#include "options/options.def"
#undef GROUP
#undef ROW
};

static const ddp_option_group groups[] = {
#define GROUP(field, title, guide) {DDP_OPTION_ROW_##field, title, guide},
#define ROW(...)
#include "options/options.def"
#undef ROW
#undef GROUP
};

const ddp_option_group *ddp_option_group_of(int row)
{
    size_t i = sizeof groups / sizeof groups[0] - 1;

    while (i > 0 && groups[i].first > row)
        i--;
    return &groups[i];
}

const char *ddp_options_guide(const char *text)
{
    for (const char *at = strchr(text, '-'); at; at = strchr(at + 1, '-')) {
        size_t length = strspn(at, "-abcdefghijklmnopqrstuvwxyz0123456789_");

        if (at > text && isalnum((unsigned char)at[-1]))
            continue; /* "darknet-ddp" names no option */
        for (int i = 0; i < DDP_OPTION_ROWS; i++)
            if (strlen(ddp_option_table[i].name) == length
                && strncmp(ddp_option_table[i].name, at, length) == 0
                && ddp_option_table[i].scope != DDP_OPTION_SCOPE_COMMAND)
                return ddp_option_group_of(i)->guide;
    }
    return NULL;
}

/* ---- values ---- */

/* Word number i of "a|b|c". */
static void write_word(const char *words, int i, char *out, size_t size)
{
    while (i-- > 0)
        words += strcspn(words, "|") + 1;
    (void)snprintf(out, size, "%.*s", (int)strcspn(words, "|"), words);
}

static void write_number(const ddp_option *row, double number, char *out, size_t size)
{
    if (row->kind == DDP_OPTION_KIND_SKIP)
        (void)snprintf(out, size, number != 0 ? "skip %.9g" : "stop", number);
    else if (row->kind == DDP_OPTION_KIND_CHOICE)
        write_word(row->argument, (int)number, out, size);
    else if (row->kind == DDP_OPTION_KIND_FLAG)
        (void)snprintf(out, size, "%s", number != 0 ? "yes" : "no");
    else if (number < row->low || number > row->high)
        (void)snprintf(out, size, "not given");
    else
        (void)snprintf(out, size, "%.9g", number);
}

static double number_of(const ddp_options *o, const ddp_option *row)
{
    const void *field = (const char *)o + row->field;

    return row->kind == DDP_OPTION_KIND_REAL ? *(const double *)field : *(const int *)field;
}

/* Write the value of a row in words; ranks as for ddp_options_list. */
static void write_value(const ddp_options *o, const ddp_option *row, int ranks, char *out,
                        size_t size)
{
    size_t used;

    if (row->kind == DDP_OPTION_KIND_SEED) {
        int64_t seed = *(const int64_t *)(const void *)((const char *)o + row->field);

        if (seed < 0)
            (void)snprintf(out, size, "not given");
        else
            (void)snprintf(out, size, "%" PRId64, seed);
        return;
    }
    if (row->kind == DDP_OPTION_KIND_COMPRESS) {
        const void *choice = (const char *)o + row->field;
        char text[DDP_COMPRESS_TEXT];

        (void)snprintf(out, size, "%s", ddp_compress_choice_format(choice, text));
        return;
    }
    write_number(row, number_of(o, row), out, size);
    used = strlen(out);
    if (ranks > 0 && (row->columns & DDP_OPTION_BY_RANKS) && number_of(o, row) != row->fallback)
        (void)snprintf(out + used, size - used, " (%d rank%s)", ranks, ddp_plural((size_t)ranks));
}

static int is_default(const ddp_options *o, const ddp_option *row)
{
    if (row->kind == DDP_OPTION_KIND_COMPRESS)
        return o->compress.word == DDP_COMPRESS_none;
    return row->kind != DDP_OPTION_KIND_SEED && number_of(o, row) == row->fallback;
}

int ddp_options_list(const ddp_options *o, unsigned column, int on_gpus, int ranks,
                     ddp_option_value *out)
{
    int count = 0;

    for (int i = 0; i < DDP_OPTION_ROWS; i++) {
        const ddp_option *row = &ddp_option_table[i];

        if (!(row->columns & column) || ((row->columns & DDP_OPTION_ON_GPU) && !on_gpus))
            continue;
        out[count].name = row->name;
        out[count].is_default = is_default(o, row);
        write_value(o, row, ranks, out[count].value, sizeof out[count].value);
        count++;
    }
    return count;
}

void ddp_options_write_one(const ddp_options *o, const char *words, char *text, size_t size)
{
    size_t length = strcspn(words, " ");
    char value[64];

    (void)snprintf(text, size, "%.*s", (int)length, words);
    for (int i = 0; i < DDP_OPTION_ROWS; i++) {
        const ddp_option *row = &ddp_option_table[i];

        if (strlen(row->name) != length || strncmp(row->name, words, length) != 0)
            continue;
        write_value(o, row, 0, value, sizeof value);
        if (row->kind != DDP_OPTION_KIND_FLAG)
            (void)snprintf(text + length, size - length, " %s", value);
    }
}

/* "-resume", "no -resume" or "-keep 3". */
static void write_line(FILE *out, const ddp_option_value *v)
{
    if (strcmp(v->value, "yes") == 0)
        (void)fprintf(out, "%s\n", v->name);
    else if (strcmp(v->value, "no") == 0 || strcmp(v->value, "not given") == 0)
        (void)fprintf(out, "no %s\n", v->name);
    else
        (void)fprintf(out, "%s %s\n", v->name, v->value);
}

char *ddp_options_agreement(const ddp_options *o, int on_gpus)
{
    ddp_option_value values[DDP_OPTION_ROWS];
    int count = ddp_options_list(o, DDP_OPTION_AGREE, on_gpus, 0, values);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    (void)fprintf(out, "computing on %s\n", on_gpus ? "GPUs" : "CPUs");
    for (int i = 0; i < count; i++)
        write_line(out, &values[i]);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

void ddp_options_suggest(ddp_suggest *near)
{
    for (int i = 0; i < DDP_OPTION_ROWS; i++)
        if (ddp_option_table[i].scope != DDP_OPTION_SCOPE_COMMAND
            && strcmp(ddp_option_table[i].name, near->word) != 0)
            ddp_suggest_try(near, ddp_option_table[i].name);
}

/* ---- help ---- */

static void write_default(const ddp_option *row, char *out, size_t size)
{
    if (row->shown)
        (void)snprintf(out, size, "%s", row->shown);
    else if (row->kind == DDP_OPTION_KIND_FLAG)
        (void)snprintf(out, size, "off");
    else
        write_number(row, row->fallback, out, size);
}

static void write_meaning(const ddp_option *row, char *out, size_t size)
{
    const ddp_ddp_command *command;
    size_t used = 0;

    for (size_t i = 0; (command = ddp_ddp_command_at(i)); i++)
        if (row->columns & DDP_OPTION_READ_BY(command->id))
            used +=
                (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", command->verb);
    (void)snprintf(out + used, size - used, "%s%s", used ? ": " : "", row->meaning);
}

const ddp_option_text *ddp_option_describe(const ddp_option *row, ddp_option_text *text)
{
    (void)snprintf(text->name, sizeof text->name, "%s%s%s", row->name, row->argument[0] ? " " : "",
                   row->argument);
    write_default(row, text->fallback, sizeof text->fallback);
    write_meaning(row, text->meaning, sizeof text->meaning);
    return text;
}

static void print_row(FILE *out, const ddp_option *row)
{
    ddp_option_text text;

    (void)ddp_option_describe(row, &text);
    (void)fprintf(out, "  %-32s  %s", text.name, text.meaning);
    if (text.fallback[0])
        (void)fprintf(out, " [%s]", text.fallback);
    (void)fprintf(out, "\n");
}

void ddp_options_help(FILE *out)
{
    const ddp_option_group *last = NULL;

    (void)fprintf(out, "\nMost runs set none but these:\n");
    for (int i = 0; i < DDP_OPTION_ROWS; i++)
        if (ddp_option_table[i].columns & DDP_OPTION_USUAL)
            print_row(out, &ddp_option_table[i]);
    for (int i = 0; i < DDP_OPTION_ROWS; i++) {
        const ddp_option_group *group = ddp_option_group_of(i);

        if (ddp_option_table[i].columns & DDP_OPTION_USUAL)
            continue;
        if (group != last)
            (void)fprintf(out, "\n%s (guide: %s):\n", group->title, group->guide);
        print_row(out, &ddp_option_table[i]);
        last = group;
    }
}
