/* The networks of test_exact.c. BATCH and SUBDIVISIONS are those of NET. */
#ifndef TESTS_GLUE_EXACT_CFGS_H
#define TESTS_GLUE_EXACT_CFGS_H

enum { SUBDIVISIONS = 8, BATCH = 32 };

#define NET                                                                                        \
    "[net]\nbatch=32\nsubdivisions=8\nlearning_rate=0.001\nmomentum=0.9\ndecay=0.0005\n"           \
    "max_batches=100\n"

static const char classifier[] =
    NET "width=16\nheight=16\nchannels=3\n"
        "[convolutional]\nbatch_normalize=1\nfilters=16\nsize=3\npad=1\nactivation=leaky\n"
        "[maxpool]\nsize=2\nstride=2\n"
        "[convolutional]\nbatch_normalize=1\nfilters=32\nsize=3\npad=1\nactivation=leaky\n"
        "[batchnorm]\n[shortcut]\nfrom=-2\nactivation=linear\n"
        "[connected]\noutput=24\nbatch_normalize=1\nactivation=relu\n"
        "[connected]\noutput=10\nactivation=linear\n[softmax]\n";

static const char detector[] =
    NET "width=32\nheight=32\nchannels=3\n"
        "[convolutional]\nbatch_normalize=1\nfilters=8\nsize=3\npad=1\nactivation=leaky\n"
        "[maxpool]\nsize=2\nstride=2\n"
        "[convolutional]\nbatch_normalize=1\nfilters=16\nsize=3\nstride=2\npad=1\n"
        "activation=leaky\n"
        "[convolutional]\nfilters=21\nsize=1\nactivation=linear\n"
        "[yolo]\nmask=0,1,2\nanchors=4,4, 8,8, 16,16\nclasses=2\nnum=3\n";

/* Networks with dropout. A test resizes them every few steps, as random=1 does. */
static const char random_classifier[] =
    NET "width=32\nheight=32\nchannels=3\n"
        "[convolutional]\nbatch_normalize=1\nfilters=4\nsize=3\npad=1\nactivation=leaky\n"
        "[dropout]\nprobability=.3\n[maxpool]\nsize=2\nstride=2\n"
        "[convolutional]\nbatch_normalize=1\nfilters=8\nsize=3\npad=1\nactivation=leaky\n"
        "[avgpool]\n[dropout]\nprobability=.2\n"
        "[connected]\noutput=10\nactivation=linear\n[softmax]\n";

static const char random_detector[] =
    NET "width=32\nheight=32\nchannels=3\n"
        "[convolutional]\nbatch_normalize=1\nfilters=4\nsize=3\nstride=2\npad=1\n"
        "activation=leaky\n"
        "[convolutional]\nbatch_normalize=1\nfilters=8\nsize=3\nstride=2\npad=1\n"
        "activation=leaky\n"
        "[dropout]\nprobability=.3\n"
        "[convolutional]\nfilters=21\nsize=1\nactivation=linear\n"
        "[yolo]\nmask=0,1,2\nanchors=4,4, 8,8, 16,16\nclasses=2\nnum=3\n";

/* A network with a frozen layer: its parameters are not trained, its running statistics change. */
static const char frozen[] =
    NET "width=16\nheight=16\nchannels=3\n"
        "[convolutional]\nbatch_normalize=1\nfilters=8\nsize=3\npad=1\nactivation=leaky\n"
        "stopbackward=1\n"
        "[convolutional]\nbatch_normalize=1\nfilters=8\nsize=3\npad=1\nactivation=leaky\n"
        "[connected]\noutput=10\nactivation=linear\n[softmax]\n";

/* A recurrent network, whose statistics are normalised in every time step. */
static const char recurrent[] = NET "time_steps=3\ninputs=12\n"
                                    "[rnn]\nbatch_normalize=1\noutput=16\nactivation=leaky\n"
                                    "[connected]\noutput=12\nactivation=linear\n[softmax]\n";

static const char recurrent_convolution[] =
    NET "time_steps=2\nwidth=8\nheight=8\nchannels=3\n"
        "[crnn]\nbatch_normalize=1\nhidden_filters=8\noutput_filters=4\nactivation=leaky\n"
        "[connected]\noutput=10\nactivation=linear\n[softmax]\n";

#endif
