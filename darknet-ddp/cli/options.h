/* cli/options.h: the options of -ddp, in Darknet's style: -name value, anywhere
 * on the line. One table lists them; parsing, errors and help come from it. */
#ifndef DDP_CLI_OPTIONS_H
#define DDP_CLI_OPTIONS_H

#include "base/status.h"
#include "comm/gpu_choice.h"

#include <stdint.h>
#include <stdio.h>

/* Choices, in the order of their words in the table. */
enum { DDP_BACKEND_AUTO, DDP_BACKEND_NCCL, DDP_BACKEND_MPI, DDP_BACKEND_SOLO };
enum { DDP_CHOICE_GLOBAL, DDP_CHOICE_RANK };
enum { DDP_CHOICE_STEP, DDP_CHOICE_SAVE };
enum { DDP_CHOICE_STOP, DDP_CHOICE_CONTINUE };

typedef struct ddp_options {
    int ddp;
    int ranks; /* 0: not given */
    int backend;
    double bucket_mb; /* MiB; 0: not given (ddp_options_bucket_mb) */
    double first_bucket_mb;
    double defer_mb;
    int overlap;
    int batch;             /* DDP_CHOICE_GLOBAL or _RANK */
    int broadcast_buffers; /* DDP_CHOICE_STEP or _SAVE */
    int find_unused;
    int sync_every;
    int64_t seed; /* -1: not given */
    int exact;
    int replace;
    int on_save_error; /* DDP_CHOICE_STOP or _CONTINUE */
    int resume;
    int resume_force;
    int keep;    /* 0: all */
    int threads; /* 0: not given */
    ddp_gpu_list gpus;
    int gpu; /* -i; -1: not given */
    int nogpu;
    int nccl_ctas; /* 0: NCCL's choice */
    int fp32;
    int deterministic;
    /* Of `darknet ddp plan` and `darknet ddp bench` */
    int np;
    int width, height; /* 0: the cfg's; so the next two */
    int cfg_batch, subdivisions;
    int steps;
    const char *json;  /* NULL: not given */
    const char *trace; /* NULL: not given */
} ddp_options;

/* Take every option of the table out of argv[1..*argc), setting *argc to what is
 * left; options not given have their defaults. argv strings must outlive *o.
 * -gpus, -i and -nogpu are Darknet's too: they are left alone but for -ddp and `darknet ddp`.
 * DDP_ERR_USAGE: a value is missing or not what the option accepts, an unknown
 * option begins with -ddp, or one that needs -ddp stands without it. */
ddp_status ddp_options_parse(ddp_options *o, int *argc, char **argv, ddp_error *err) DDP_MUST_CHECK;

/* MiB of a bucket: what was asked for, or what suits the transport. */
double ddp_options_bucket_mb(const ddp_options *o, int nccl);

/* Print the table. */
void ddp_options_help(FILE *out);

#endif
