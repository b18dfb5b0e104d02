#include "options/table.h"

#include "options/darknet_commands.h"
#include "options/ddp_commands.h"
#include "options/foreign_options.h"
#include "options/removed_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static void *field_of(ddp_options *o, const ddp_option *row)
{
    return (char *)o + row->field;
}

static void set_number(ddp_options *o, const ddp_option *row, double value)
{
    void *field = field_of(o, row);

    switch (row->kind) {
    case DDP_OPTION_KIND_REAL:
        *(double *)field = value;
        break;
    case DDP_OPTION_KIND_SEED:
        *(int64_t *)field = (int64_t)value;
        break;
    case DDP_OPTION_KIND_TEXT:
        *(const char **)field = NULL;
        break;
    case DDP_OPTION_KIND_GPUS:
        *(ddp_gpu_list *)field = (ddp_gpu_list){0};
        break;
    case DDP_OPTION_KIND_COMPRESS:
        *(ddp_compress_choice *)field = (ddp_compress_choice){0};
        break;
    default:
        *(int *)field = (int)value;
        break;
    }
}

static ddp_status refuse(const ddp_option *row, const char *value, ddp_error *err)
{
    char numbers[256] = "";

    if (row->kind == DDP_OPTION_KIND_COMPRESS)
        ddp_compress_accepts(numbers, sizeof numbers);
    if (row->kind == DDP_OPTION_KIND_CHOICE || row->kind == DDP_OPTION_KIND_COMPRESS)
        return ddp_fail(err, DDP_ERR_USAGE, "%s wants %s%s, not '%s'", row->name, row->argument,
                        numbers, value);
    if (row->kind == DDP_OPTION_KIND_SKIP)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%s wants stop, or skip and a whole number from 1 to %.10g, not '%s'",
                        row->name, row->high, value);
    if (row->kind == DDP_OPTION_KIND_SEED)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%s wants a whole number from 0 to %" PRId64 ", not '%s'", row->name,
                        INT64_MAX, value);
    if (row->kind == DDP_OPTION_KIND_WHOLE && row->low == 0 && row->high == 1)
        return ddp_fail(err, DDP_ERR_USAGE, "%s wants 0 or 1, not '%s'", row->name, value);
    (void)ddp_fail(err, DDP_ERR_USAGE, "%s wants %s from %.10g to %.10g, not '%s'", row->name,
                   row->kind == DDP_OPTION_KIND_WHOLE ? "a whole number" : "a number", row->low,
                   row->high, value);
    if (row->kind == DDP_OPTION_KIND_REAL && row->high == 1 && atof(value) > 1
        && atof(value) <= 100) /* a share in percent */
        (void)ddp_fail(err, DDP_ERR_USAGE, "%s wants a number from %.10g to 1, not '%s'; %.10g?",
                       row->name, row->low, value, atof(value) / 100);
    return err->code;
}

static ddp_status take_choice(ddp_options *o, const ddp_option *row, const char *value,
                              ddp_error *err)
{
    size_t length = strlen(value);
    const char *word = row->argument;

    for (int i = 0; *word; i++) {
        size_t n = strcspn(word, "|");

        if (n == length && strncmp(word, value, n) == 0) {
            *(int *)field_of(o, row) = i;
            return DDP_OK;
        }
        word += n + (word[n] == '|');
    }
    return refuse(row, value, err);
}

static ddp_status take_value(ddp_options *o, const ddp_option *row, const char *value,
                             ddp_error *err)
{
    char *end = NULL;
    double number;

    errno = 0;
    switch (row->kind) {
    case DDP_OPTION_KIND_CHOICE:
        return take_choice(o, row, value, err);
    case DDP_OPTION_KIND_TEXT:
        if (value[0] == '-' || !value[0])
            return ddp_fail(err, DDP_ERR_USAGE, "%s wants a file name, not '%s'", row->name, value);
        *(const char **)field_of(o, row) = value;
        return DDP_OK;
    case DDP_OPTION_KIND_GPUS:
        return ddp_gpu_list_parse(field_of(o, row), value, err);
    case DDP_OPTION_KIND_COMPRESS:
        return ddp_compress_choice_parse(field_of(o, row), value) ? DDP_OK
                                                                  : refuse(row, value, err);
    case DDP_OPTION_KIND_SEED: {
        long long seed = strtoll(value, &end, 10);

        if (errno || end == value || *end || seed < 0)
            return refuse(row, value, err);
        *(int64_t *)field_of(o, row) = seed;
        return DDP_OK;
    }
    default:
        number = strtod(value, &end);
        if (errno || end == value || *end || !(number >= row->low && number <= row->high)
            || (row->kind == DDP_OPTION_KIND_WHOLE && number != (double)(long)number))
            return refuse(row, value, err);
        set_number(o, row, number);
        return DDP_OK;
    }
}

/* "stop", or "skip" and a number: how many arguments these are, or -1 and an error. */
static int take_skip(ddp_options *o, const ddp_option *row, char *const *words, ddp_error *err)
{
    char *end = NULL;
    long number;

    if (strcmp(words[0], "stop") == 0) {
        set_number(o, row, 0);
        return 1;
    }
    if (strcmp(words[0], "skip") != 0 || !words[1]) {
        (void)refuse(row, words[0], err);
        return -1;
    }
    errno = 0;
    number = strtol(words[1], &end, 10);
    if (errno || end == words[1] || *end || number < 1 || (double)number > row->high) {
        (void)refuse(row, words[1], err);
        return -1;
    }
    set_number(o, row, (double)number);
    return 2;
}

/* `-ddp_exact 1`, as `-ddp_fp32 1`: the number would be taken for a file. Darknet's own commands
 * have numbers that stand alone. next: the argument behind, or NULL. */
static ddp_status refuse_value_of_flag(const ddp_option *row, const char *next, int is_ours,
                                       ddp_error *err)
{
    if (!is_ours || !next || (strcmp(next, "0") != 0 && strcmp(next, "1") != 0))
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE, "%s takes no value: leave %s out%s", row->name,
                    next[0] == '1' ? "the 1" : "both", next[0] == '1' ? "" : " for off");
}

/* An option, behind which stand words, ended by NULL: how many of them are its, or -1 and an
 * error. */
static int take(ddp_options *o, const ddp_option *row, char *const *words, int is_ours,
                ddp_error *err)
{
    int is_optional = row->kind == DDP_OPTION_KIND_TEXT && row->argument[0] == '[';

    if (row->kind == DDP_OPTION_KIND_FLAG) {
        if (refuse_value_of_flag(row, words[0], is_ours, err))
            return -1;
        *(int *)field_of(o, row) = 1;
        return 0;
    }
    if (!words[0] && is_optional) {
        *(const char **)field_of(o, row) = "";
        return 0;
    }
    if (!words[0]) {
        (void)ddp_fail(err, DDP_ERR_USAGE, "%s needs a value: %s %s", row->name, row->name,
                       row->argument);
        return -1;
    }
    if (row->kind == DDP_OPTION_KIND_SKIP)
        return take_skip(o, row, words, err);
    return take_value(o, row, words[0], err) ? -1 : 1;
}

static const ddp_option *find(const char *name)
{
    for (int i = 0; i < DDP_OPTION_ROWS; i++)
        if (strcmp(ddp_option_table[i].name, name) == 0)
            return &ddp_option_table[i];
    return NULL;
}

static int has_ddp(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "-ddp") == 0)
            return 1;
    return 0;
}

/* Is this a command that trains on ranks? Options of ours, with what may be their values, are left
 * out: Darknet's table of commands does not know them. */
static int trains_on_ranks(int argc, char **argv)
{
    char **rest = calloc((size_t)argc + 1, sizeof *rest);
    int kept = 1, trains;

    if (!rest)
        return 0;
    for (int i = 1; i < argc; i++) {
        const ddp_option *row = find(argv[i]);

        if (!row || row->scope == DDP_OPTION_SCOPE_SHARED || row->scope == DDP_OPTION_SCOPE_COMMAND)
            rest[kept++] = argv[i];
        else
            i += row->kind != DDP_OPTION_KIND_FLAG;
    }
    rest[0] = argv[0];
    trains = ddp_darknet_trains_ddp(kept, rest);
    free(rest);
    return trains;
}

/* Does this option mean anything to us on this command line? Options of the ddp
 * commands have short names that Darknet's own commands use too. */
static int applies(const ddp_option *row, int is_ddp_command, int trains)
{
    if (!row || (row->scope == DDP_OPTION_SCOPE_COMMAND && !is_ddp_command))
        return 0;
    return row->scope != DDP_OPTION_SCOPE_SHARED || is_ddp_command || trains;
}

/* Fail if one of the used options of `darknet ddp` alone is not read by the command of this verb.
 */
static ddp_status check_commands(const char *used, const char *verb, ddp_error *err)
{
    const ddp_ddp_command *command = ddp_ddp_command_find(verb);
    ddp_option_text text;
    char name[64];

    for (int i = 0; command && i < DDP_OPTION_ROWS; i++) {
        const ddp_option *row = &ddp_option_table[i];

        if (!used[i] || row->scope != DDP_OPTION_SCOPE_COMMAND
            || (row->columns & DDP_OPTION_READ_BY(command->id)))
            continue;
        ddp_ddp_command_name(command, name, sizeof name);
        return ddp_fail(err, DDP_ERR_USAGE, "darknet %s does not read %s (%s)", name, row->name,
                        ddp_option_describe(row, &text)->meaning);
    }
    return DDP_OK;
}

static ddp_status refuse_unknown(const char *name, int is_ddp_command, ddp_error *err)
{
    ddp_suggest near = {.word = name, .beginning = "-ddp_"};
    const char *instead = ddp_removed_option(name);
    char text[DDP_SUGGEST_TEXT], foreign[DDP_FOREIGN_OPTION_TEXT];

    if (instead)
        return ddp_fail(err, DDP_ERR_USAGE, "%s is gone: %s", name, instead);
    if (ddp_foreign_option_instead(name, foreign))
        return ddp_fail(err, DDP_ERR_USAGE, "unknown option '%s'; here: %s", name, foreign);
    for (int i = 0; i < DDP_OPTION_ROWS; i++)
        if (is_ddp_command || ddp_option_table[i].scope != DDP_OPTION_SCOPE_COMMAND)
            ddp_suggest_try(&near, ddp_option_table[i].name);
    return ddp_fail(err, DDP_ERR_USAGE, "unknown option '%s'%s `darknet ddp help` lists them", name,
                    near.best ? ddp_suggest_text(&near, text) : ";");
}

/* used: an option of a run on ranks; NULL: none stands on the line. */
static ddp_status check_context(const ddp_options *o, const ddp_option *used, int is_ddp_command,
                                int trains, ddp_error *err)
{
    if (used && !trains && !is_ddp_command)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%s is for commands that train on ranks, such as `darknet detector train`",
                        used->name);
    if (o->lone && (o->ddp || is_ddp_command))
        return ddp_fail(err, DDP_ERR_USAGE, "-ddp_lone is for training without -ddp");
    return DDP_OK;
}

int ddp_options_read_steps(const char *text, size_t *first, size_t *last)
{
    char end;

    if (strspn(text, "0123456789:") < strlen(text)) /* sscanf takes -5 for a number above 0 */
        return 0;
    return sscanf(text, "%zu:%zu%c", first, last, &end) == 2 && *first >= 1 && *first <= *last;
}

static ddp_status check_trace(const ddp_options *o, ddp_error *err)
{
    size_t first, last;

    if (!o->trace_steps)
        return DDP_OK;
    if (!o->trace_run)
        return ddp_fail(err, DDP_ERR_USAGE, "-ddp_trace_steps wants -ddp_trace FILE");
    if (ddp_options_read_steps(o->trace_steps, &first, &last))
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "-ddp_trace_steps wants A:B, the first and the last step, such as 10:12, not "
                    "'%s'",
                    o->trace_steps);
}

/* Check values in ways that a row of the table cannot express. algorithms/claims.h says which
 * options exclude each other. */
static ddp_status check_values(const ddp_options *o, int is_ddp_command, int is_options_command,
                               ddp_error *err)
{
    if (o->json && !o->json[0] && !is_options_command)
        return ddp_fail(err, DDP_ERR_USAGE, "-json needs a value: -json FILE");
    if (o->tensorboard && !o->records)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-tensorboard wants the figures of steps, and with -ddp_records 0 there "
                        "are none");
    if (o->points != 11 && o->points != 101)
        return ddp_fail(err, DDP_ERR_USAGE, "-points wants 11 or 101, not '%d'", o->points);
    if (o->compress_after > 0 && (is_ddp_command || !ddp_compress_choice_compresses(&o->compress)))
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-ddp_compress_after is for training with a -ddp_compress that keeps what "
                        "it leaves out");
    return check_trace(o, err);
}

ddp_status ddp_options_parse(ddp_options *o, int *argc, char **argv, ddp_error *err)
{
    int is_ddp_command = *argc > 1 && strcmp(argv[1], "ddp") == 0;
    int trains = has_ddp(*argc, argv) || trains_on_ranks(*argc, argv);
    const ddp_option *of_ranks = NULL;
    char used[DDP_OPTION_ROWS] = {0};
    int kept = 1;

    *o = (ddp_options){0};
    for (int i = 0; i < DDP_OPTION_ROWS; i++)
        set_number(o, &ddp_option_table[i], ddp_option_table[i].fallback);
    for (int i = 1; i < *argc; i++) {
        const ddp_option *row = find(argv[i]);
        int taken;

        if (!applies(row, is_ddp_command, trains)) {
            if (strncmp(argv[i], "-ddp", 4) == 0 || (is_ddp_command && argv[i][0] == '-'))
                return refuse_unknown(argv[i], is_ddp_command, err);
            argv[kept++] = argv[i];
            continue;
        }
        if (row->scope == DDP_OPTION_SCOPE_RANKS)
            of_ranks = row;
        used[row - ddp_option_table] = 1;
        taken = take(o, row, argv + i + 1, trains || is_ddp_command, err);
        if (taken < 0)
            return err->code;
        i += taken;
    }
    argv[kept] = NULL;
    *argc = kept;
    o->deterministic |= o->exact;
    if (o->schedule > DDP_SCHEDULE_HIERARCHICAL) /* levels, another word for it */
        o->schedule = DDP_SCHEDULE_HIERARCHICAL;
    o->ddp |= trains && (o->ranks > 0 || o->hosts);
    if (check_context(o, of_ranks, is_ddp_command, trains, err)
        || (kept > 2 && is_ddp_command && check_commands(used, argv[2], err)))
        return err->code;
    return check_values(o, is_ddp_command,
                        is_ddp_command && *argc > 2 && strcmp(argv[2], "options") == 0, err);
}

const ddp_option_names *ddp_options_names(void)
{
    static const ddp_option_names names = {.exact = "-ddp_exact",
                                           .batch = "-ddp_batch",
                                           .sync_every = "-ddp_sync_every",
                                           .buffers = "-ddp_broadcast_buffers",
                                           .find_unused = "-ddp_find_unused"};

    return &names;
}

/* A sum by NCCL costs a thread and a kernel; one by MPI is cut into chunks that follow each other
 * across buckets. */
double ddp_options_bucket_mb(const ddp_options *o, int nccl)
{
    if (o->bucket_mb > 0)
        return o->bucket_mb;
    return nccl ? 25 : 4;
}

double ddp_options_first_bucket_mb(const ddp_options *o)
{
    return o->first_bucket_mb > 0 ? o->first_bucket_mb : 1;
}

double ddp_options_defer_mb(const ddp_options *o)
{
    return o->defer_mb >= 0 ? o->defer_mb : 32;
}
