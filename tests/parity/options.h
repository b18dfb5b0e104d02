/* The command line of the parity test: parity CFG [key=value]... */
#ifndef PARITY_OPTIONS_H
#define PARITY_OPTIONS_H

#include "model.h"
#include "run.h"

typedef struct parity_options {
    model_options model;
    skip_rule skip;
    int updates;
    int sync_every;
    int sync_bn;
    int rank_mode;     /* -ddp_batch rank */
    int darknet_order; /* 1: the reference's sums have Darknet's order */
    int overlap;
    double bucket_mib;
    double defer_mib;
    ddp_wire wire;   /* how gradients travel; the reference then rounds where ranks do */
    int variants;    /* 1: other buckets, deferred buckets and no overlap must give the same bits */
    const char *gpu; /* "nccl" or "mpi": on GPU 0, which all ranks share, and how its sums travel */
    int ordered;     /* 1: NCCL's sums have the order of device/sum.h, as all others have */
    int refused;     /* 1: the network must be refused; the test says why, and exits with 77 */
} parity_options;

/* Parse the command line. Ends the program if an argument is not understood. */
parity_options parity_parse(int argc, char **argv);

#endif
