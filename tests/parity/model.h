/* A network for a parity test: a cfg made small, and nothing random in it. */
#ifndef PARITY_MODEL_H
#define PARITY_MODEL_H

#include <darknet.h>

typedef struct model_options {
    const char *cfg;
    /* 0: the cfg's */
    int width, height, batch, subdivisions, time_steps;
    int crop;     /* width and height of what [crop] leaves */
    int frozen;   /* how many layers, from the first, are frozen: by stopbackward=1 in the last of
                     them */
    int thin;     /* the cfg's filters are divided by it, but where a loss fixes their number */
    int add_cost; /* 1: the cfg has no loss, append [cost] */
    int smooth;   /* 1: elu for leaky and relu, which have a kink; 2: mish */
    float learning_rate;
    int on_gpu; /* 1: on GPU 0, in a build for GPUs */
} model_options;

/* Make the network. Failure ends the program with the file's name and the cause. */
network *model_open(const model_options *o);

#endif
