#include "cli/commands.h"

int ddp_command_help(void)
{
    printf(
        "darknet-ddp %s: Darknet training on many processes, one cfg unchanged\n\n"
        "  mpirun -np 4 darknet detector train X.data X.cfg [weights] -ddp\n"
        "  darknet classifier train X.data X.cfg -ddp -ddp_ranks 2\n"
        "  darknet detector train X.data X.cfg -ddp -gpus 0,1,2,3   in a build for GPUs\n"
        "  darknet ddp cfg yolov4-tiny -classes 3 -o X.cfg   a cfg for 3 classes of your own\n"
        "  darknet ddp check X.data X.cfg       what is wrong with the data, all at once\n"
        "  darknet detector map X.data X.cfg X.weights -ddp_ranks 2   average precision on valid=\n"
        "  darknet ddp plan X.cfg -np 8         the buckets and their traffic\n"
        "  darknet ddp bench X.cfg -ddp_ranks 2  times of a step, on random data\n"
        "  darknet ddp why backup/X.events      which rank of a failed run broke off first\n"
        "  darknet ddp help\n\n"
        "Commands that train with -ddp: detector, classifier, segmenter, isegmenter, regressor,\n"
        "go, cifar and rnn, each followed by train.\n\n"
        "Options, anywhere on the line ([default] behind):\n",
        DDP_VERSION);
    ddp_options_help(stdout);
    printf("\nExit status: 0 trained, 1 failed, 2 bad command line.\n");
    return 0;
}
