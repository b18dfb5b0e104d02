/* A network for a parity test: a cfg made small, and nothing random in it. */
#ifndef PARITY_MODEL_H
#define PARITY_MODEL_H

#include <darknet.h>

typedef struct model_options {
    const char *cfg;
    /* values of [net] in place of the cfg's; 0: the cfg's own */
    int width, height, batch, subdivisions, time_steps;
    int crop;   /* width and height, in pixels, that [crop] leaves; 0: the cfg's own */
    int frozen; /* number of layers, from the first, that are frozen: by stopbackward=1 in the last
                   of them */
    int thin;   /* divisor of the cfg's filters= where no loss fixes them; 0: none */
    int add_cost; /* 1: the cfg has no loss, append [cost] */
    int smooth;   /* 1: elu for leaky and relu, which have a kink; 2: mish */
    float learning_rate;
    int on_gpu; /* 1: on GPU 0, in a build for GPUs */
} model_options;

/* Make the network. Failure ends the program with the file's name and the cause. */
network *model_open(const model_options *o);

#endif
