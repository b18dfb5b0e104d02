#include "cli/darknet_commands.h"

#include "cli/near.h"
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>

enum does { READS, TRAINS, TRAINS_DDP };

/* A verb of a command, or a command without verbs ("" then). options: names, each followed by a
 * word without a dash if it takes a value. The first row of a command may say why it cannot run
 * under -ddp. */
typedef struct command {
    const char *name, *verb;
    const char *options;
    enum does does;
    const char *refusal;
} command;

/* A row a line. */
/* clang-format off */
#define NO_DATA "its data paths are fixed in the code"
#define DEMO "-prefix TEXT -thresh X -c N -s N -avg N"

static const command commands[] = {
    {"detector", "train", "-gpus LIST -clear", TRAINS_DDP, NULL},
    {"detector", "test", "-thresh X -hier X -out FILE -fullscreen", READS, NULL},
    {"detector", "valid", "-out FILE", READS, NULL},
    {"detector", "valid2", "-out FILE", READS, NULL},
    {"detector", "recall", "", READS, NULL},
    {"detector", "calc_anchors", "-num_of_clusters N -width N -height N -seed N", READS, NULL},
    {"detector", "demo", DEMO " -hier X -w N -h N -fps N -fullscreen", READS, NULL},
    {"classifier", "train", "-gpus LIST -clear", TRAINS_DDP, NULL},
    {"classifier", "predict", "-t N", READS, NULL},
    {"classifier", "fout", "", READS, NULL},
    {"classifier", "try", "", READS, NULL},
    {"classifier", "demo", "-c N", READS, NULL},
    {"classifier", "gun", "-c N", READS, NULL},
    {"classifier", "threat", "-c N", READS, NULL},
    {"classifier", "test", "", READS, NULL},
    {"classifier", "csv", "", READS, NULL},
    {"classifier", "label", "", READS, NULL},
    {"classifier", "valid", "", READS, NULL},
    {"classifier", "validmulti", "", READS, NULL},
    {"classifier", "valid10", "", READS, NULL},
    {"classifier", "validcrop", "", READS, NULL},
    {"classifier", "validfull", "", READS, NULL},
    {"segmenter", "train", "-gpus LIST -clear -display", TRAINS_DDP, NULL},
    {"segmenter", "test", "", READS, NULL},
    {"segmenter", "demo", "-c N", READS, NULL},
    {"isegmenter", "train", "-gpus LIST -clear -display", TRAINS_DDP, NULL},
    {"isegmenter", "test", "", READS, NULL},
    {"isegmenter", "demo", "-c N", READS, NULL},
    {"regressor", "train", "-gpus LIST -clear", TRAINS_DDP, NULL},
    {"regressor", "test", "", READS, NULL},
    {"regressor", "demo", "-c N", READS, NULL},
    {"go", "train", "-gpus LIST -clear -backup FOLDER", TRAINS_DDP, NULL},
    {"go", "valid", "-multi", READS, NULL},
    {"go", "self", "-multi", READS, NULL},
    {"go", "test", "-multi", READS, NULL},
    {"go", "engine", "-iters N -time X -temp X -cpuct X -anon -resign N", READS, NULL},
    {"cifar", "train", "-backup FOLDER", TRAINS_DDP, NULL},
    {"cifar", "distill", "-backup FOLDER", TRAINS, NULL},
    {"cifar", "extract", "", READS, NULL},
    {"cifar", "test", "", READS, NULL},
    {"cifar", "multi", "", READS, NULL},
    {"cifar", "csv", "", READS, NULL},
    {"cifar", "csvtrain", "", READS, NULL},
    {"cifar", "eval", "", READS, NULL},
    {"rnn", "train", "-file FILE -clear -tokenized -backup FOLDER", TRAINS_DDP, NULL},
    {"rnn", "valid", "-seed TEXT", READS, NULL},
    {"rnn", "validtactic", "-seed TEXT", READS, NULL},
    {"rnn", "vec", "-seed TEXT", READS, NULL},
    {"rnn", "generate", "-len N -seed TEXT -temp X -srand N -tokens FILE", READS, NULL},
    {"rnn", "generatetactic", "-len N -temp X -srand N -tokens FILE", READS, NULL},
    {"lsd", "traingan", "-clear -display -b N -file FILE", TRAINS,
     "it trains two networks against each other"},
    {"lsd", "trainprog", "-clear -display -b N -file FILE", TRAINS, NULL},
    {"lsd", "traincolor", "-clear -display", TRAINS, NULL},
    {"lsd", "gan", "", READS, NULL},
    {"lsd", "inter", "", READS, NULL},
    {"lsd", "test", "", READS, NULL},
    {"lsd", "color", "", READS, NULL},
    {"yolo", "train", "", TRAINS, NO_DATA "; `detector train` does the same with a .data"},
    {"yolo", "test", "-thresh X", READS, NULL},
    {"yolo", "valid", "", READS, NULL},
    {"yolo", "recall", "", READS, NULL},
    {"yolo", "demo", DEMO, READS, NULL},
    {"coco", "train", "", TRAINS, NO_DATA "; `detector train` does the same with a .data"},
    {"coco", "test", "-thresh X", READS, NULL},
    {"coco", "valid", "", READS, NULL},
    {"coco", "recall", "", READS, NULL},
    {"coco", "demo", DEMO, READS, NULL},
    {"super", "train", "-clear", TRAINS, NO_DATA},
    {"super", "test", "", READS, NULL},
    {"tag", "train", "-clear", TRAINS, NO_DATA "; `classifier train` reads tags with tag=1"},
    {"tag", "test", "", READS, NULL},
    {"detect", "", "-thresh X -out FILE -fullscreen", READS, NULL},
    {"classify", "", "", READS, NULL},
    {"art", "", "-c N", READS, NULL},
    {"nightmare", "",
     "-range N -norm N -rounds N -iters N -octaves N -zoom X -rate X -thresh X -rotate X -momentum "
     "X "
     "-lambda X -prefix TEXT -reconstruct -smooth N",
     READS, NULL},
    {"average", "", "", READS, NULL},
    {"3d", "", "", READS, NULL},
    {"test", "", "", READS, NULL},
    {"imtest", "", "", READS, NULL},
    {"rgbgr", "", "", READS, NULL},
    {"reset", "", "", READS, NULL},
    {"denormalize", "", "", READS, NULL},
    {"normalize", "", "", READS, NULL},
    {"statistics", "", "", READS, NULL},
    {"rescale", "", "", READS, NULL},
    {"ops", "", "", READS, NULL},
    {"speed", "", "", READS, NULL},
    {"oneoff", "", "", READS, NULL},
    {"oneoff2", "", "", READS, NULL},
    {"print", "", "", READS, NULL},
    {"partial", "", "", READS, NULL},
    {"visualize", "", "", READS, NULL},
    {"mkimg", "", "", READS, NULL},
};
/* clang-format on */

enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* Of every command. */
static const char *const everywhere = "-i N -nogpu";

/* ---- lists of options ---- */

/* Take the next name off a list, and whether a value follows it. NULL: the list has ended. */
static const char *next_option(const char **list, char *name, size_t size, int *has_value)
{
    size_t length = strcspn(*list, " ");

    if (!**list)
        return NULL;
    (void)snprintf(name, size, "%.*s", (int)length, *list);
    *list += length;
    *list += strspn(*list, " ");
    *has_value = **list && **list != '-';
    if (*has_value)
        *list += strcspn(*list, " ");
    *list += strspn(*list, " ");
    return name;
}

/* Is it in the list, and does a value follow it? */
static int in_list(const char *list, const char *option, int *has_value)
{
    char name[32];

    while (next_option(&list, name, sizeof name, has_value))
        if (strcmp(name, option) == 0)
            return 1;
    return 0;
}

static int is_option(const char *word)
{
    char *end;

    (void)strtod(word, &end);
    return word[0] == '-' && word[1] && *end; /* "-5" is a number */
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
static const command *that_knows(const command *row, const char *option, int *has_value)
{
    while (row && !in_list(row->options, option, has_value))
        row = next_of(row);
    return row;
}

/* Do values that this command's options take stand behind this word? */
static int takes_value(const command *first, const char *word)
{
    int has_value = 0;

    return (in_list(everywhere, word, &has_value) || that_knows(first, word, &has_value))
           && has_value;
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

static ddp_status refuse_command(const char *name, ddp_error *err)
{
    ddp_near near = {.word = name};
    char text[DDP_NEAR_TEXT];

    for (const command *row = commands; row < commands + COMMANDS; row++)
        ddp_near_try(&near, row->name);
    ddp_near_try(&near, "ddp");
    return ddp_fail(err, DDP_ERR_USAGE, "darknet has no command '%s'%s", name,
                    ddp_near_text(&near, text));
}

static ddp_status refuse_verb(const command *first, const char *verb, ddp_error *err)
{
    ddp_near near = {.word = verb};
    char text[DDP_NEAR_TEXT];

    for (const command *row = first; row; row = next_of(row))
        ddp_near_try(&near, row->verb);
    return ddp_fail(err, DDP_ERR_USAGE, "darknet %s has no '%s'%s", first->name, verb,
                    ddp_near_text(&near, text));
}

/* "detector train", or the name of a command without verbs. */
static void write_name(const command *row, char *text, size_t size)
{
    (void)snprintf(text, size, "%s%s%s", row->name, row->verb[0] ? " " : "", row->verb);
}

static void near_of_list(ddp_near *near, const char *list, char (*names)[32], int *used, int most)
{
    int has_value;

    while (*used < most && next_option(&list, names[*used], sizeof names[0], &has_value))
        ddp_near_try(near, names[(*used)++]);
}

static ddp_status refuse_option(const command *row, const char *option, ddp_error *err)
{
    char names[32][32], name[64], other[64], text[DDP_NEAR_TEXT];
    const command *knows;
    ddp_near near = {.word = option};
    int used = 0, has_value;

    write_name(row, name, sizeof name);
    knows = that_knows(first_of(row->name), option, &has_value);
    if (knows) {
        write_name(knows, other, sizeof other);
        return ddp_fail(err, DDP_ERR_USAGE, "%s does not know the option '%s'; %s does", name,
                        option, other);
    }
    near_of_list(&near, row->options, names, &used, 32);
    near_of_list(&near, everywhere, names, &used, 32);
    ddp_options_near(&near);
    return ddp_fail(err, DDP_ERR_USAGE, "%s does not know the option '%s'%s", name, option,
                    ddp_near_text(&near, text));
}

/* ---- what others ask ---- */

static ddp_status check_options(const command *row, int argc, char **argv, ddp_error *err)
{
    char name[64];
    int has_value;

    for (int i = 1; i < argc; i++) {
        if (!is_option(argv[i]))
            continue;
        if (!in_list(everywhere, argv[i], &has_value)
            && !in_list(row->options, argv[i], &has_value))
            return refuse_option(row, argv[i], err);
        if (has_value && ++i == argc) {
            write_name(row, name, sizeof name);
            return ddp_fail(err, DDP_ERR_USAGE, "%s: the option %s needs a value", name,
                            argv[i - 1]);
        }
    }
    return DDP_OK;
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
    if (row)
        return check_options(row, argc, argv, err);
    verb = plain_word(argc, argv, first, 1);
    return verb ? refuse_verb(first, verb, err) : DDP_OK;
}

int ddp_darknet_trains(int argc, char **argv)
{
    const command *row = row_of(argc, argv);

    return row && row->does != READS;
}

ddp_status ddp_darknet_check_ddp(int argc, char **argv, ddp_error *err)
{
    const char *name = argc > 1 ? argv[1] : "", *verb = argc > 2 ? argv[2] : "";
    const command *first = first_of(name), *row = row_of(argc, argv);

    if (first && first->refusal)
        return ddp_fail(err, DDP_ERR_USAGE, "`%s` cannot run under -ddp: %s", name, first->refusal);
    if (!row || row->does != TRAINS_DDP)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "`darknet%s%s%s%s` does not train; -ddp goes with train",
                        name[0] ? " " : "", name, verb[0] ? " " : "", verb);
    if (!plain_word(argc, argv, first, 2))
        return ddp_fail(err, DDP_ERR_USAGE, "`darknet %s %s` wants the name of a file", name, verb);
    return DDP_OK;
}
