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
    int rank_mode;     /* 1: batches as by -ddp_batch rank; 0: as by its default */
    int darknet_order; /* 1: the reference run adds up in Darknet's order; 0: in ranks' order */
    int overlap;
    double bucket_mib;
    double defer_mib;
    ddp_wire wire;   /* format in which gradients travel, and to which the reference rounds */
    int variants;    /* 1: other buckets, deferred buckets and no overlap must give the same bits */
    const char *gpu; /* "nccl" or "mpi": by which sums of GPU 0 travel, of all ranks; NULL: CPUs */
    int ordered;     /* 1: NCCL's sums have the one order that all other sums have (device/sum.h) */
    int refused;     /* 1: the network must be refused; the test says why, and exits with 77 */
} parity_options;

/* Parse the command line. Ends the program if an argument is not understood. */
parity_options parity_parse(int argc, char **argv);

#endif
