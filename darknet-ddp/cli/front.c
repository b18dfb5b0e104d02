/* The front door: what a person types who does not know the program. */
#include "cli/commands.h"

#include <string.h>

static const char general[] =
    "usage: darknet COMMAND WORDS... [options]\n\n"
    "  darknet detector train X.data X.cfg [X.weights]      train; with -ddp on many processes\n"
    "  darknet detector test X.data X.cfg X.weights PICTURE  find objects in a picture\n"
    "  darknet detector map X.data X.cfg X.weights          how good it is, on the list of valid=\n"
    "  darknet classifier train X.data X.cfg [X.weights]\n"
    "  darknet classifier predict X.data X.cfg X.weights PICTURE\n"
    "  darknet ddp check X.data X.cfg                       what is wrong with the data\n"
    "  darknet ddp help                                     training on many processes, all "
    "options\n"
    "  darknet detector --help                              and classifier --help: the .data file\n"
    "  darknet --version\n\n"
    "Exit status: 0 done, 1 failed, 2 bad command line.\n";

static const char detector[] =
    "usage: darknet detector train X.data X.cfg [X.weights] [-ddp] [options]\n"
    "       darknet detector test X.data X.cfg X.weights PICTURE [-thresh 0.5]\n"
    "       darknet detector map X.data X.cfg X.weights [-ddp_ranks N]\n"
    "       darknet detector valid X.data X.cfg X.weights\n\n"
    "X.data, a line for each:\n"
    "  classes=2               how many kinds of objects; the cfg's has the same number\n"
    "  train=train.list        a file with the path of a picture in each line\n"
    "  valid=valid.list        pictures to validate on; may be left out\n"
    "  names=X.names           the name of each class, a line each\n"
    "  backup=backup           a folder for weights\n\n"
    "Beside each picture, or in labels/ where its path says images/, PICTURE.txt has a line for\n"
    "each object: its class, from 0, then the centre, width and height of its box as shares of "
    "the\n"
    "picture's: 0 0.5 0.5 0.2 0.4. `darknet ddp check X.data X.cfg` tells what is wrong with it.\n";

static const char classifier[] =
    "usage: darknet classifier train X.data X.cfg [X.weights] [-ddp] [options]\n"
    "       darknet classifier predict X.data X.cfg X.weights PICTURE\n"
    "       darknet classifier valid X.data X.cfg X.weights\n\n"
    "X.data, a line for each:\n"
    "  classes=2               how many kinds of pictures; the cfg's has as many outputs\n"
    "  train=train.list        a file with the path of a picture in each line\n"
    "  valid=valid.list        pictures to validate on; may be left out\n"
    "  labels=X.labels         a word for each class, a line each: it stands in the file's name\n"
    "  names=X.names           what to call each class when predicting\n"
    "  top=5                   of the figure that counts the true class among so many\n"
    "  backup=backup           a folder for weights\n";

static int is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
}

static const char *text_for(int argc, char **argv)
{
    if (argc == 2 && is_help(argv[1]))
        return general;
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return "darknet-ddp " DDP_VERSION "\n";
    if (argc != 3 || !is_help(argv[2]))
        return NULL;
    if (strcmp(argv[1], "detector") == 0)
        return detector;
    return strcmp(argv[1], "classifier") == 0 ? classifier : NULL;
}

int ddp_command_front(int argc, char **argv)
{
    const char *text = text_for(argc, argv);

    if (text)
        (void)fputs(text, stdout);
    return text != NULL;
}
