/* The command `darknet ddp options`: prints all options as text. With -json it prints them as JSON,
 * and which of them exclude each other. */
#include "algorithms/claims.h"
#include "algorithms/compressor.h"
#include "base/json.h"
#include "cli/commands.h"
#include "options/ddp_commands.h"
#include "options/table.h"
#include "show/output_file.h"
#include "show/rank_output.h"

#include <errno.h>
#include <string.h>

static const char *kind_name(enum ddp_option_kind kind)
{
    static const char *const names[] = {"flag", "whole", "real", "seed",    "choice",
                                        "skip", "text",  "gpus", "compress"};

    return names[kind];
}

static const char *scope_name(enum ddp_option_scope scope)
{
    static const char *const names[] = {"anywhere", "ranks", "command", "shared"};

    return names[scope];
}

static void put_field(FILE *out, const char *name, const char *text)
{
    (void)fprintf(out, ", \"%s\": ", name);
    ddp_json_text(out, text);
}

/* The names of a set's bits. */
static void put_set(FILE *out, const char *name, unsigned set, const char *(*name_of)(size_t bit))
{
    const char *between = "";

    (void)fprintf(out, ", \"%s\": [", name);
    for (size_t i = 0; name_of(i); i++)
        if (set >> i & 1U) {
            (void)fprintf(out, "%s\"%s\"", between, name_of(i));
            between = ", ";
        }
    (void)fputc(']', out);
}

static const char *column_name(size_t bit)
{
    static const char *const names[] = {"agree",    "results", "rounding",
                                        "by_ranks", "on_gpu",  "usual"};

    return bit < sizeof names / sizeof names[0] ? names[bit] : NULL;
}

static const char *verb_of(size_t bit)
{
    const ddp_ddp_command *command = ddp_ddp_command_at(bit);

    return command ? command->verb : NULL;
}

static void put_range(FILE *out, double low, double high)
{
    (void)fputs(", \"low\": ", out);
    ddp_json_number(out, low);
    (void)fputs(", \"high\": ", out);
    ddp_json_number(out, high);
}

/* Write the words of -ddp_compress, and which number each takes. */
static void put_words(FILE *out)
{
    const char *between = "";

    (void)fputs(", \"words\": [", out);
    for (size_t i = 0; i < DDP_COMPRESS_WORDS; i++) {
        const ddp_compress_row *row = &ddp_compress_table[i];

        (void)fprintf(out, "%s{\"word\": \"%s\", \"compresses\": %s", between, row->word,
                      row->compresses ? "true" : "false");
        (void)fprintf(out, ", \"on_gpus\": %s",
                      ddp_compressor_on_gpus((ddp_compress_word)i) ? "true" : "false");
        put_field(out, "argument", row->argument);
        put_range(out, row->low, row->high);
        (void)fputc('}', out);
        between = ", ";
    }
    (void)fputc(']', out);
}

static void put_option(FILE *out, const ddp_option *row, const ddp_option_group *group)
{
    ddp_option_text text;

    (void)ddp_option_describe(row, &text);
    (void)fputs("{\"name\": ", out);
    ddp_json_text(out, row->name);
    put_field(out, "argument", row->argument);
    put_field(out, "kind", kind_name(row->kind));
    put_field(out, "default", text.fallback);
    if (row->kind == DDP_OPTION_KIND_WHOLE || row->kind == DDP_OPTION_KIND_REAL)
        put_range(out, row->low, row->high);
    if (row->kind == DDP_OPTION_KIND_COMPRESS)
        put_words(out);
    put_field(out, "scope", scope_name(row->scope));
    put_set(out, "columns", row->columns, column_name);
    put_set(out, "commands", row->columns / DDP_OPTION_READ_BY(0), verb_of);
    put_field(out, "group", group->title);
    put_field(out, "guide", group->guide);
    put_field(out, "meaning", text.meaning);
    (void)fputc('}', out);
}

static int is_same_option(const ddp_claimant *a, const ddp_claimant *b)
{
    size_t length = strcspn(a->example, " ");

    return length == strcspn(b->example, " ") && strncmp(a->example, b->example, length) == 0;
}

static void put_excluded(FILE *out, const ddp_claimant *a)
{
    const char *between = "";
    ddp_claimant b;

    (void)fputs(", \"excludes\": [", out);
    for (size_t i = 0; ddp_claimant_at(i, &b); i++) {
        if (is_same_option(a, &b) || !ddp_claims_exclude(&a->claims, &b.claims))
            continue;
        (void)fputs(between, out);
        ddp_json_text(out, b.example);
        between = ", ";
    }
    (void)fputc(']', out);
}

static void put_claims(FILE *out, const ddp_claimant *a)
{
    (void)fputs("{\"example\": ", out);
    ddp_json_text(out, a->example);
    put_set(out, "decides", a->claims.controls, ddp_controls_name);
    put_set(out, "breaks", a->claims.breaks, ddp_guarantee_name);
    put_set(out, "relies", a->claims.relies, ddp_guarantee_name);
    put_excluded(out, a);
    (void)fputc('}', out);
}

static void put_all(FILE *out)
{
    ddp_claimant a;

    (void)fputs("{\"options\": [\n", out);
    for (int i = 0; i < DDP_OPTION_ROWS; i++) {
        (void)fputs(i ? ",\n" : "", out);
        put_option(out, &ddp_option_table[i], ddp_option_group_of(i));
    }
    (void)fputs("],\n\"claims\": [\n", out);
    for (size_t i = 0; ddp_claimant_at(i, &a); i++) {
        (void)fputs(i ? ",\n" : "", out);
        put_claims(out, &a);
    }
    (void)fputs("]}\n", out);
}

int ddp_command_options(const ddp_command_call *call)
{
    const char *json = call->options->json;
    FILE *out;

    if (!json) {
        ddp_options_help(stdout);
        return 0;
    }
    out = json[0] ? ddp_output_file_open(json) : NULL;
    put_all(out ? out : stdout);
    ddp_output_file_close(out, json);
    return 0;
}
