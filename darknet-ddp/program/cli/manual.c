/* The command `darknet ddp man`: prints the manual pages darknet(1) and darknet-ddp-options(7), in
 * troff's language. Commands and options come from the program's tables; files, signals and
 * examples are text here. */
#include "cli/commands.h"
#include "options/darknet_commands.h"
#include "options/ddp_commands.h"
#include "options/table.h"
#include "show/rank_output.h"

#include <string.h>

/* Text as troff takes it: no character commands anything, and a dash is one to be copied. */
static void put(const char *text)
{
    int begins = 1;

    for (; *text; text++) {
        if (begins && (*text == '.' || *text == '\''))
            (void)fputs("\\&", stdout);
        begins = *text == '\n';
        if (*text == '\\')
            (void)fputs("\\e", stdout);
        else if (*text == '-')
            (void)fputs("\\-", stdout);
        else
            (void)putchar(*text);
    }
}

/* Write lines that troff is to leave as they are. */
static void put_lines(const char *text)
{
    printf(".PP\n.nf\n");
    put(text);
    printf(".fi\n");
}

/* In bold what is to be typed, in italics what stands for something. */
static void put_command(const char *name, const char *verb, const char *words, const char *options)
{
    printf(".TP\n\\fBdarknet ");
    put(name);
    printf("%s", verb[0] ? " " : "");
    put(verb);
    printf("\\fR \\fI");
    put(words);
    printf("\\fR");
    if (options[0]) {
        printf(" ");
        put(options);
    }
    printf("\n");
}

static void put_own_commands(void)
{
    const ddp_ddp_command *own;

    printf(".SS Beside training\n");
    for (size_t i = 0; (own = ddp_ddp_command_at(i)); i++) {
        put_command("ddp", own->verb, own->words, "");
        put(own->meaning);
        printf(".\n");
    }
}

static const char *does(const ddp_darknet_command *row)
{
    if (row->refusal)
        return "Runs in one process alone.";
    return row->kind == DDP_TRAINS_DDP ? "Trains, also on many processes." : "";
}

static void put_darknet_commands(void)
{
    const ddp_darknet_command *row;

    printf(".SS Of Darknet\nEach also takes ");
    put(ddp_darknet_everywhere);
    printf(".\n");
    for (size_t i = 0; (row = ddp_darknet_command_at(i)); i++) {
        put_command(row->name, row->verb, row->words, row->options);
        put(does(row));
        printf("\n");
    }
}

static void put_option(const ddp_option *row)
{
    ddp_option_text text;

    (void)ddp_option_describe(row, &text);
    printf(".TP\n\\fB");
    put(row->name);
    printf("\\fR\\fI");
    put(text.name + strlen(row->name));
    printf("\\fR\n");
    put(text.meaning);
    if (text.fallback[0]) {
        printf(" [");
        put(text.fallback);
        printf("]");
    }
    printf("\n");
}

static void put_usual_options(void)
{
    for (int i = 0; i < DDP_OPTION_ROWS; i++)
        if (ddp_option_table[i].columns & DDP_OPTION_USUAL)
            put_option(&ddp_option_table[i]);
}

static void put_other_options(void)
{
    const ddp_option_group *last = NULL;

    for (int i = 0; i < DDP_OPTION_ROWS; i++) {
        const ddp_option_group *group = ddp_option_group_of(i);

        if (ddp_option_table[i].columns & DDP_OPTION_USUAL)
            continue;
        if (group != last)
            printf(".SH %s\nGuide: \\fI%s.md\\fR\n", group->title, group->guide);
        put_option(&ddp_option_table[i]);
        last = group;
    }
}

static void put_files(void)
{
    printf(".SH FILES\n.SS The .data file of detector\n");
    put_lines(ddp_command_data_file("detector"));
    printf(".SS The .data file of classifier\n");
    put_lines(ddp_command_data_file("classifier"));
    printf(".SS In the folder of backup=, with NAME that of the cfg\n");
    printf(".TP\n.I NAME.backup\nthe newest weights, with \\fINAME.backup.state\\fR beside it for "
           "\\fB\\-resume\\fR\n"
           ".TP\n.I NAME_N.weights\nthose after N batches of detector (every 100 below 1000, "
           "then every 10,000), or after N epochs of classifier\n"
           ".TP\n.I NAME_final.weights\nthose at the end, of detector and rnn\n"
           ".TP\n.I NAME.weights\nthose at the end, of classifier and the others\n"
           ".TP\n.I NAME_best.weights\nthose that were best in a validation\n"
           ".TP\n.I NAME_last.weights\nthose of the last validation\n"
           ".TP\n.I NAME.csv\na row a step\n"
           ".TP\n.I NAME.html\na page of the run\n");
    printf(".PP\nFiles in \\fIcfg/\\fR and \\fIdata/\\fR that are not in the working directory are "
           "looked for in what was installed with the program.\n");
}

static void put_signals(void)
{
    printf(".SH SIGNALS\n"
           ".TP\n.B SIGUSR1\nto any rank: save \\fINAME.backup\\fR at the end of the step\n"
           ".TP\n.B SIGTERM, SIGUSR2, SIGINT, SIGHUP\nsave it, and end all ranks with status 0; "
           "a second SIGINT ends at once\n"
           ".TP\n.B SIGQUIT\nprint where each rank is\n");
}

static int print_manual(void)
{
    printf(
        ".TH DARKNET 1 \"\" \"darknet\\-ddp %s\" \"User Commands\"\n"
        ".SH NAME\ndarknet \\- train neural networks, on one process or many\n"
        ".SH SYNOPSIS\n.B darknet\n.I COMMAND WORDS\n.RI [ options ]\n.br\n"
        ".B mpirun \\-np\n.I N\n.B darknet detector train\n.I X.data X.cfg\n.RI [ X.weights ]\n"
        ".B \\-ddp\n"
        ".SH DESCRIPTION\nDarknet trains and runs convolutional networks described by a cfg "
        "file.\nWith \\fB\\-ddp\\fR all processes that mpirun or srun started train one network, "
        "as one process would with the same cfg: ranks share each batch, and gradients are "
        "summed while the backward pass still runs.\n.SH COMMANDS\n",
        DDP_VERSION);
    put_own_commands();
    put_darknet_commands();
    printf(".SH OPTIONS\nThey stand anywhere on the line; defaults are in brackets. Most runs set "
           "none but these; "
           "\\fBdarknet\\-ddp\\-options\\fR(7) has all.\n");
    put_usual_options();
    put_files();
    put_signals();
    printf(".SH EXIT STATUS\n0: done. 1: failed. 2: bad command line.\n"
           ".SH EXAMPLES\n");
    put_lines("darknet ddp cfg yolov4-tiny -classes 3 -o X.cfg\n"
              "darknet ddp check X.data X.cfg\n"
              "darknet detector train X.data X.cfg -ddp_ranks 2\n"
              "darknet detector map X.data X.cfg backup/X_best.weights -ddp_ranks 2\n"
              "darknet detector test X.data X.cfg backup/X_best.weights PICTURE\n");
    return 0;
}

static int print_options(void)
{
    printf(
        ".TH DARKNET\\-DDP\\-OPTIONS 7 \"\" \"darknet\\-ddp %s\" \"Options of darknet\\-ddp\"\n"
        ".SH NAME\ndarknet\\-ddp\\-options \\- all options of training on many processes\n"
        ".SH DESCRIPTION\nThey stand anywhere on the line; defaults are in brackets. Guides are in "
        "\\fIdarknet\\-ddp/docs/\\fR of the source, and installed under "
        "\\fIshare/doc/darknet\\-ddp/darknet\\-ddp/docs/\\fR.\n"
        ".SH MOST RUNS SET NONE BUT THESE\n",
        DDP_VERSION);
    put_usual_options();
    put_other_options();
    printf(".SH SEE ALSO\n\\fBdarknet\\fR(1)\n");
    return 0;
}

int ddp_command_man(const ddp_command_call *call)
{
    const char *word = call->words[0];
    ddp_error err;

    if (!word)
        return print_manual();
    if (strcmp(word, "options") == 0)
        return print_options();
    (void)ddp_fail(&err, DDP_ERR_USAGE, "`darknet ddp man` wants no word or options, not '%s'",
                   word);
    ddp_rank_output_failure(&err);
}
