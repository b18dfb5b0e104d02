/* bench/bench.h: measures steps of training on random data. Three kinds of steps take turns, so
 * that a machine which slows down slows all of them:
 *
 *   local    forward, backward and update, without communication
 *   wire     a step's communication alone
 *   step     all of it, as training does it
 *
 * While the CPU time of communication is measured, a rank sleeps between polls instead of spinning.
 */
#ifndef DDP_BENCH_BENCH_H
#define DDP_BENCH_BENCH_H

#include "base/status.h"
#include "comm/group.h"
#include "glue/network.h"
#include "trainer/trainer.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A quantity of a step, in seconds, as measured in each of the timed steps. */
typedef struct ddp_sample {
    const char *name;    /* the quantity's name, a short word */
    const char *meaning; /* a phrase that explains the quantity */
    double *seconds;     /* one of each step, `count` of them; ascending after ddp_sample_sort */
    size_t count;
} ddp_sample;

/* Sort s->seconds, the least first. */
void ddp_sample_sort(ddp_sample *s);
/* Return quantile q, 0 to 1, of a sorted sample; 0 if it is empty. */
double ddp_sample_quantile(const ddp_sample *s, double q);

/* The network to time, and how. */
typedef struct ddp_bench_config {
    ddp_group *group;
    ddp_trainer *trainer; /* attached to net, whose learning rate becomes 0 */
    network *net;
    ddp_network_shape shape;           /* shape of net */
    const char *cfg;                   /* the cfg's name */
    int batches;                       /* batches that make one update (-ddp_sync_every) */
    int steps;                         /* how many steps of each kind to time, at least 1 */
    const char *devices;               /* name of the devices: "CPU", "GPU NVIDIA H200" */
    int fp32;                          /* 1: GPUs compute without TF32 */
    int bf16;                          /* 1: layers compute in bf16 where they can (-ddp_bf16) */
    int exact, deterministic, overlap; /* 1: the option of the field's name is on */
    const char *wire;                  /* how gradients travel, for people; NULL: as float32 */
    const char *replay; /* name of the profile by which layers sleep; NULL: they compute */
    FILE *trace; /* file that gets a trace of one step of all ranks (core/trace.h), on rank 0; NULL
                    elsewhere, or for none */
    int draw;    /* 1: run two steps more, and trace the second; the same on all ranks */
} ddp_bench_config;

/* The result of ddp_bench_run. Print it on rank 0. */
typedef struct ddp_bench_result {
    const ddp_bench_config *config;
    const char *transport;
    const char *precision; /* precision of convolutions: "fp32", "TF32" or "bf16" */
    int on_host;           /* 1: the steps were computed on CPUs */
    int ranks;
    int batch; /* images of an update, of all ranks together */
    double gradient_mb;
    /* MB that ranks sum in a step, of gradients or their compressed form, 4 bytes a number */
    double summed_mb;
    size_t buckets;
    /* how many buckets were summed when backward ended, in the step that config->draw traces; 0
     * without draw, or on one rank */
    size_t hidden;
    ddp_sample *samples;
    size_t sample_count;
    int counted;          /* 1: messages and inter_host_mb are known; not so with NCCL */
    uint64_t messages;    /* messages that the sums of a step send, on the rank that sends most */
    double inter_host_mb; /* MB that leave a host in a step, for the host that sends most */
    double cpu_s;         /* CPU seconds of a step's communication alone on this rank, a mean */
    double limit_s;       /* seconds that a step takes at least: the longer of a step without
                             communication, on CPUs plus cpu_s, and communication alone */
    double step_s;        /* median seconds of a step with communication */
    double local_s;       /* median seconds of a step without communication */
} ddp_bench_result;

/* Time config->steps steps of each kind. Collective. config must outlive *out, which is set in any
 * case; release it. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_bench_run(ddp_bench_result *out, const ddp_bench_config *config,
                         ddp_error *err) DDP_MUST_CHECK;
/* Free the samples of *r. */
void ddp_bench_release(ddp_bench_result *r);

/* Print the result as a text for people. */
void ddp_bench_print(FILE *out, const ddp_bench_result *r);
/* Print the result as JSON. */
void ddp_bench_print_json(FILE *out, const ddp_bench_result *r);

#endif
