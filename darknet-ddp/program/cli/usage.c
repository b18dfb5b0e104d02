/* The help for people who do not know the program: what `darknet --help`, `darknet COMMAND --help`
 * and `darknet --version` print. */
#include "cli/commands.h"
#include "options/darknet_commands.h"
#include "options/ddp_commands.h"
#include "options/table.h"

#include <string.h>

static const char general[] =
    "usage: darknet COMMAND WORDS... [options]\n\n"
    "  darknet detector train X.data X.cfg [X.weights]      train; -ddp_ranks N: on N ranks\n"
    "  darknet detector test X.data X.cfg X.weights PICTURE  find objects in pictures\n"
    "  darknet detector map X.data X.cfg X.weights          how good it is, on the list of valid=\n"
    "  darknet classifier train X.data X.cfg [X.weights]\n"
    "  darknet classifier predict X.data X.cfg X.weights PICTURE\n"
    "  darknet ddp check X.data X.cfg                       what is wrong with the data\n"
    "  darknet ddp help                                     training on many processes, all "
    "options\n"
    "  darknet COMMAND --help                               for one command; of detector and\n"
    "                                                       classifier also the .data file\n"
    "  darknet --version\n\n"
    "Commands: ";

static const char statuses[] =
    "\nExit status: 0 done, 1 failed, 2 bad command line, 128 + N ended by signal N.\n";

static const char detector_data[] =
    "  classes=2               how many kinds of objects; the cfg's has the same number\n"
    "  train=train.list        a file with the path of a picture in each line\n"
    "  valid=valid.list        pictures to validate on; may be left out\n"
    "  names=X.names           the name of each class, a line each\n"
    "  backup=backup           a folder for weights\n\n"
    "Beside each picture, or in labels/ where its path says images/, PICTURE.txt has a line for\n"
    "each object: its class, from 0, then the centre, width and height of its box as shares of "
    "the\n"
    "picture's: 0 0.5 0.5 0.2 0.4. `darknet ddp check X.data X.cfg` tells what is wrong with it.\n";

static const char classifier_data[] =
    "  classes=2               how many kinds of pictures; the cfg's has as many outputs\n"
    "  train=train.list        a file with the path of a picture in each line\n"
    "  valid=valid.list        pictures to validate on; may be left out\n"
    "  labels=X.labels         a word for each class, a line each: it stands in the file's name\n"
    "  names=X.names           what to call each class when predicting\n"
    "  top=5                   of the figure that counts the true class among so many\n"
    "  backup=backup           a folder for weights\n";

const char *ddp_command_data_file(const char *command)
{
    if (strcmp(command, "detector") == 0)
        return detector_data;
    return strcmp(command, "classifier") == 0 ? classifier_data : NULL;
}

static int is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
}

/* The command that a line asks to have explained; NULL: none. -h may be a height, but for the last
 * word. */
static const char *asked_about(int argc, char **argv)
{
    if (argc == 3 && is_help(argv[1]))
        return argv[2];
    if (argc == 3 && is_help(argv[2]))
        return argv[1];
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || (i == argc - 1 && strcmp(argv[i], "-h") == 0))
            return argv[1];
    return NULL;
}

static int print_general(void)
{
    const ddp_darknet_command *row;
    const char *last = "ddp";

    (void)fputs(general, stdout);
    (void)fputs(last, stdout);
    for (size_t i = 0; (row = ddp_darknet_command_at(i)); i++) {
        if (strcmp(row->name, last) != 0)
            printf("%s%s", i % 16 == 15 ? ",\n  " : ", ", row->name);
        last = row->name;
    }
    printf(".\n%s", statuses);
    return 1;
}

/* Print our commands whose first word is name, with the options that they alone read. */
static void print_own_commands(const char *name)
{
    const ddp_ddp_command *own;
    size_t length = strlen(name);

    for (size_t i = 0; (own = ddp_ddp_command_at(i)); i++) {
        if (!own->name || strncmp(own->name, name, length) != 0 || own->name[length] != ' ')
            continue;
        printf("       darknet %s %s ", own->name, own->words);
        for (int k = 0; k < DDP_OPTION_ROWS; k++) {
            const ddp_option *row = &ddp_option_table[k];

            if (row->scope == DDP_OPTION_SCOPE_COMMAND
                && (row->columns & DDP_OPTION_READ_BY(own->id)))
                printf(" %s%s%s", row->name, row->argument[0] ? " " : "", row->argument);
        }
        printf(" -ddp_ranks N -width N -height N\n");
    }
}

/* Print what is known of a command. Returns 0 where there is no such command. */
static int print_command(const char *name)
{
    const ddp_darknet_command *row;
    const char *data = ddp_command_data_file(name);
    int count = 0;

    for (size_t i = 0; (row = ddp_darknet_command_at(i)); i++)
        if (strcmp(row->name, name) == 0 && !ddp_ddp_command_is_ours(row->name, row->verb))
            printf("%s darknet %s%s%s%s%s%s%s\n", count++ ? "      " : "usage:", name,
                   row->verb[0] ? " " : "", row->verb, row->words[0] ? " " : "", row->words,
                   row->options[0] ? "  " : "", row->options);
    print_own_commands(name);
    if (count && data)
        printf("\nDATA is a file with a line for each:\n%s", data);
    if (count)
        printf("\nEach also takes %s. Training takes many more, as -ddp_ranks N, -resume,\n"
               "-epochs N, -width N, -learning_rate X: `darknet ddp help` lists them.\n",
               ddp_darknet_everywhere);
    return count > 0;
}

int ddp_command_print_help(int argc, char **argv)
{
    const char *name;

    if (argc == 2 && is_help(argv[1]))
        return print_general();
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return printf("darknet-ddp " DDP_VERSION "\n") > 0;
    name = asked_about(argc, argv);
    if (name && strcmp(name, "ddp") == 0)
        return ddp_command_help(NULL) == 0;
    return name ? print_command(name) : 0;
}
