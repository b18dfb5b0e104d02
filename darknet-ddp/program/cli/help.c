#include "cli/commands.h"
#include "options/ddp_commands.h"
#include "show/guides.h"

int ddp_command_help(const ddp_command_call *call)
{
    const ddp_ddp_command *own;
    char room[PATH_MAX];

    (void)call;
    printf("darknet-ddp %s: Darknet training on many processes, one cfg unchanged\n\n"
           "  mpirun -np 4 darknet detector train X.data X.cfg [weights] -ddp\n"
           "  darknet classifier train X.data X.cfg -ddp_ranks 2\n"
           "  darknet detector train X.data X.cfg -gpus 0,1,2,3   in a build for GPUs\n\n",
           DDP_VERSION);
    for (size_t i = 0; (own = ddp_ddp_command_at(i)); i++) {
        char words[48];

        (void)snprintf(words, sizeof words, "%s %s", own->verb, own->words);
        printf("  darknet ddp %-25s %s\n", words, own->meaning);
    }
    printf(
        "\nCommands that train with -ddp: detector, classifier, segmenter, isegmenter, regressor,\n"
        "go, cifar and rnn, each followed by train.\n\n"
        "A guide NAME is %s/NAME.md.\n\n"
        "Options, anywhere on the line ([default] behind)\n",
        ddp_guides_folder(room));
    ddp_options_help(stdout);
    printf("\nExit status: 0 trained, 1 failed, 2 bad command line, 128 + N ended by signal N.\n");
    return 0;
}
