#include "options/darknet_commands.h"

#include "base/suggest.h"
#include "options/foreign_options.h"
#include "options/options.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef ddp_darknet_command command;

static const command commands[] = {
#define ROW(...) {__VA_ARGS__},
#include "options/darknet_commands.def"
#undef ROW
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

const char *const ddp_darknet_everywhere = "-i N -nogpu";

const ddp_darknet_command *ddp_darknet_command_at(size_t i)
{
    return i < COMMANDS ? &commands[i] : NULL;
}

/* ---- lists of options ---- */

/* Take the next word off a list. */
static void take_word(const char **list, char *word, size_t size)
{
    size_t length = strcspn(*list, " ");

    (void)snprintf(word, size, "%.*s", (int)length, *list);
    *list += length;
    *list += strspn(*list, " ");
}

int ddp_darknet_next_option(const char **list, char *name, char *value, size_t size)
{
    if (!**list)
        return 0;
    take_word(list, name, size);
    *value = 0;
    if (**list && **list != '-')
        take_word(list, value, size);
    return 1;
}

/* The kind of value behind an option. */
typedef enum value_kind { NO_VALUE, NUMBER, TEXT } value_kind;

/* N in a list is a whole number, X any. */
static value_kind kind_of(const char *value)
{
    if (!*value)
        return NO_VALUE;
    return strcmp(value, "N") == 0 || strcmp(value, "X") == 0 ? NUMBER : TEXT;
}

/* Is it in the list, and what follows it? */
static int in_list(const char *list, const char *option, value_kind *kind)
{
    char name[32], value[32];

    while (ddp_darknet_next_option(&list, name, value, sizeof name)) {
        *kind = kind_of(value);
        if (strcmp(name, option) == 0)
            return 1;
    }
    return 0;
}

static int is_number(const char *word)
{
    char *end;

    (void)strtod(word, &end);
    return end != word && !*end;
}

static int is_option(const char *word)
{
    return word[0] == '-' && word[1] && !is_number(word);
}

/* ---- which row ---- */

static const command *first_of(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static const command *next_of(const command *row)
{
    const command *next = row + 1;

    return next < commands + COMMANDS && strcmp(next->name, row->name) == 0 ? next : NULL;
}

/* The row of this command that has the option; NULL: none. */
static const command *that_knows(const command *row, const char *option, value_kind *kind)
{
    while (row && !in_list(row->options, option, kind))
        row = next_of(row);
    return row;
}

/* Do values that this command's options take stand behind this word? */
static int takes_value(const command *first, const char *word)
{
    value_kind kind = NO_VALUE;

    return (in_list(ddp_darknet_everywhere, word, &kind) || that_knows(first, word, &kind))
           && kind != NO_VALUE;
}

/* Word number i of those that are neither options nor their values; NULL: there are fewer. What
 * stands before the command can only be what every command knows. */
static const char *plain_word(int argc, char **argv, const command *first, int i)
{
    for (int a = 1; a < argc; a++) {
        if (!is_option(argv[a])) {
            if (i-- == 0)
                return argv[a];
        } else if (takes_value(first, argv[a])) {
            a++;
        }
    }
    return NULL;
}

static const command *row_of(int argc, char **argv)
{
    const char *name = plain_word(argc, argv, NULL, 0);
    const command *row = name ? first_of(name) : NULL;
    const char *verb = row && row->verb[0] ? plain_word(argc, argv, row, 1) : "";

    while (row && verb && strcmp(row->verb, verb) != 0)
        row = next_of(row);
    return verb ? row : NULL;
}

/* ---- refusals ---- */

/* The first command with this verb: `darknet train`. NULL: there is none. */
static const command *that_has_verb(const char *verb)
{
    for (const command *row = commands; row < commands + COMMANDS; row++)
        if (*verb && strcmp(row->verb, verb) == 0)
            return row;
    return NULL;
}

static ddp_status refuse_command(const char *name, ddp_error *err)
{
    ddp_suggest near = {.word = name};
    char text[DDP_SUGGEST_TEXT];
    const command *has_verb = that_has_verb(name);

    if (has_verb)
        return ddp_fail(
            err, DDP_ERR_USAGE,
            "darknet has no command '%s'; type darknet %s %s %s, and darknet --help for "
            "others",
            name, has_verb->name, name, has_verb->words);

    for (const command *row = commands; row < commands + COMMANDS; row++)
        ddp_suggest_try(&near, row->name);
    ddp_suggest_try(&near, "ddp");
    return ddp_fail(err, DDP_ERR_USAGE, "darknet has no command '%s'%s", name,
                    ddp_suggest_text(&near, text));
}

static ddp_status refuse_verb(const command *first, const char *verb, ddp_error *err)
{
    ddp_suggest near = {.word = verb};
    char text[DDP_SUGGEST_TEXT];

    for (const command *row = first; row; row = next_of(row))
        ddp_suggest_try(&near, row->verb);
    return ddp_fail(err, DDP_ERR_USAGE, "darknet %s has no '%s'%s", first->name, verb,
                    ddp_suggest_text(&near, text));
}

static ddp_status refuse_no_verb(const command *first, ddp_error *err)
{
    char verbs[256] = "";
    size_t used = 0;

    for (const command *row = first; row && used < sizeof verbs; row = next_of(row))
        used += (size_t)snprintf(verbs + used, sizeof verbs - used, "%s%s", used ? ", " : "",
                                 row->verb);
    if (strcmp(first->name, "detector") == 0 && used < sizeof verbs)
        (void)snprintf(verbs + used, sizeof verbs - used, ", map"); /* ours: ddp_commands.h */
    return ddp_fail(err, DDP_ERR_USAGE, "darknet %s wants one of %s; darknet %s --help says more",
                    first->name, verbs, first->name);
}

/* "detector train", or the name of a command without verbs. */
static void write_name(const command *row, char *text, size_t size)
{
    (void)snprintf(text, size, "%s%s%s", row->name, row->verb[0] ? " " : "", row->verb);
}

static void near_of_list(ddp_suggest *near, const char *list, char (*names)[32], int *used,
                         int most)
{
    char value[32];

    while (*used < most && ddp_darknet_next_option(&list, names[*used], value, sizeof value))
        ddp_suggest_try(near, names[(*used)++]);
}

static ddp_status refuse_option(const command *row, const char *option, ddp_error *err)
{
    char names[32][32], name[64], other[64], text[DDP_SUGGEST_TEXT];
    char foreign[DDP_FOREIGN_OPTION_TEXT];
    const char *instead;
    const command *knows;
    ddp_suggest near = {.word = option, .beginning = "-ddp_"};
    value_kind kind;
    int used = 0;

    write_name(row, name, sizeof name);
    knows = that_knows(first_of(row->name), option, &kind);
    instead = ddp_foreign_option_instead(option, foreign);
    if (knows && (row->kind != DDP_TRAINS_DDP || !instead)) {
        write_name(knows, other, sizeof other);
        return ddp_fail(err, DDP_ERR_USAGE, "%s does not know the option '%s'; %s does", name,
                        option, other);
    }
    if (instead)
        return ddp_fail(err, DDP_ERR_USAGE, "%s does not know the option '%s'; here: %s", name,
                        option, instead);
    near_of_list(&near, row->options, names, &used, 32);
    near_of_list(&near, ddp_darknet_everywhere, names, &used, 32);
    ddp_options_suggest(&near);
    return ddp_fail(err, DDP_ERR_USAGE, "%s does not know the option '%s'%s", name, option,
                    ddp_suggest_text(&near, text));
}

/* ---- what others ask ---- */

static ddp_status check_options(const command *row, int argc, char **argv, ddp_error *err)
{
    value_kind kind;
    char name[64];

    for (int i = 1; i < argc; i++) {
        if (!is_option(argv[i]))
            continue;
        if (!in_list(ddp_darknet_everywhere, argv[i], &kind)
            && !in_list(row->options, argv[i], &kind))
            return refuse_option(row, argv[i], err);
        if (kind != NO_VALUE && ++i == argc) {
            write_name(row, name, sizeof name);
            return ddp_fail(err, DDP_ERR_USAGE, "%s: the option %s needs a value", name,
                            argv[i - 1]);
        }
        if (kind == NUMBER && !is_number(argv[i]))
            return ddp_fail(err, DDP_ERR_USAGE, "%s %s: not a number", argv[i - 1], argv[i]);
    }
    return DDP_OK;
}

/* Elsewhere than in `nightmare` it is a probability. */
static ddp_status check_threshold(const command *row, char **argv, ddp_error *err)
{
    const char *value = ddp_darknet_option(argv, "-thresh");
    double threshold = value ? strtod(value, NULL) : 0;
    char percent[32] = "";

    if (strcmp(row->name, "nightmare") == 0 || (threshold >= 0 && threshold <= 1))
        return DDP_OK;
    if (threshold > 1)
        (void)snprintf(percent, sizeof percent, "; %g?", threshold / 100);
    return ddp_fail(err, DDP_ERR_USAGE, "-thresh %s: a probability is wanted, from 0 to 1%s", value,
                    percent);
}

/* How many words of "CFG [WEIGHTS]" must and may be there; "WEIGHTS...": any number. */
static void count_words(const char *words, int *fewest, int *most)
{
    char word[32];

    *fewest = *most = 0;
    while (*words) {
        take_word(&words, word, sizeof word);
        *fewest += word[0] != '[';
        *most = word[strlen(word) - 1] == '.' ? INT_MAX / 2 : *most + 1;
    }
}

/* How many layers: Darknet takes what is no number for 0. */
static ddp_status check_count(const command *row, int argc, char **argv, ddp_error *err)
{
    const char *count = ddp_darknet_word_at(argc, argv, "LAYERS");

    if (!count || (count[0] != '0' && !count[strspn(count, "0123456789")]))
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE, "%s: LAYERS is a number from 1, not '%s': %s", row->name,
                    count, row->words);
}

static ddp_status check_words(const command *row, int argc, char **argv, ddp_error *err)
{
    int names = 1 + (row->verb[0] != 0), fewest, most; /* names: words before those */
    const char *extra;
    char name[64];

    count_words(row->words, &fewest, &most);
    write_name(row, name, sizeof name);
    if (check_count(row, argc, argv, err))
        return err->code;
    extra = plain_word(argc, argv, row, names + most);
    if (extra)
        return ddp_fail(err, DDP_ERR_USAGE, "%s: nothing is to follow %s, and '%s' does", name,
                        row->words, extra);
    if (plain_word(argc, argv, row, names + fewest - 1))
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE, "usage: darknet %s%s%s%s", name, row->words[0] ? " " : "",
                    row->words, row->options[0] ? " [options]; darknet --help says more" : "");
}

static ddp_status check_shows(const command *row, ddp_error *err)
{
    char name[64];

    if (row->kind != DDP_SHOWS)
        return DDP_OK;
    write_name(row, name, sizeof name);
    return ddp_fail(
        err, DDP_ERR_USAGE,
        "`%s` shows what a camera sees or a video has, by OpenCV, which this program is "
        "built without",
        name);
}

ddp_status ddp_darknet_check(int argc, char **argv, ddp_error *err)
{
    const char *name = plain_word(argc, argv, NULL, 0), *verb;
    const command *first = name ? first_of(name) : NULL, *row = row_of(argc, argv);

    if (!name)
        return ddp_fail(err, DDP_ERR_USAGE, "no command%s%s; darknet --help names some",
                        argc > 1 ? " beside " : "", argc > 1 ? argv[1] : "");
    if (!first)
        return refuse_command(name, err);
    if (row && (check_options(row, argc, argv, err) || check_threshold(row, argv, err)))
        return err->code;
    if (row)
        return check_shows(row, err) ? err->code : check_words(row, argc, argv, err);
    verb = plain_word(argc, argv, first, 1);
    return verb ? refuse_verb(first, verb, err) : refuse_no_verb(first, err);
}

const char *ddp_darknet_word(int argc, char **argv, int i)
{
    const char *name = plain_word(argc, argv, NULL, 0);

    return plain_word(argc, argv, name ? first_of(name) : NULL, i);
}

int ddp_darknet_is(int argc, char **argv, const char *name, const char *verb)
{
    const command *row = row_of(argc, argv);

    return row && strcmp(row->name, name) == 0 && strcmp(row->verb, verb) == 0;
}

const char *ddp_darknet_option(char **argv, const char *option)
{
    while (*argv && strcmp(*argv, option) != 0)
        argv++;
    return *argv ? argv[1] : NULL;
}

int ddp_words_find(const char *words, const char *place)
{
    size_t length = strlen(place);
    char word[32];

    for (int i = 0; *words; i++) {
        const char *name = word;

        take_word(&words, word, sizeof word);
        name += word[0] == '[';
        if (strncmp(name, place, length) == 0 && (!name[length] || name[length] == ']'))
            return i;
    }
    return -1;
}

const char *ddp_darknet_word_at(int argc, char **argv, const char *place)
{
    const command *row = row_of(argc, argv);
    int i = row ? ddp_words_find(row->words, place) : -1;

    return i < 0 ? NULL : plain_word(argc, argv, first_of(row->name), i + 1 + (row->verb[0] != 0));
}

int ddp_darknet_trains(int argc, char **argv)
{
    const command *row = row_of(argc, argv);

    return row && (row->kind == DDP_TRAINS || row->kind == DDP_TRAINS_DDP);
}

int ddp_darknet_trains_ddp(int argc, char **argv)
{
    const command *row = row_of(argc, argv);

    return row && row->kind == DDP_TRAINS_DDP;
}

ddp_status ddp_darknet_check_ddp(int argc, char **argv, ddp_error *err)
{
    const char *name = ddp_darknet_word(argc, argv, 0);
    const command *first = name ? first_of(name) : NULL, *row = row_of(argc, argv);

    if (first && first->refusal)
        return ddp_fail(err, DDP_ERR_USAGE, "`%s` cannot run under -ddp: %s", name, first->refusal);
    if (row && row->kind != DDP_TRAINS_DDP)
        return ddp_fail(err, DDP_ERR_USAGE, "`darknet %s%s%s` does not train; -ddp goes with train",
                        name, row->verb[0] ? " " : "", row->verb);
    return DDP_OK;
}
