/* bench/bench.h: measures how long training steps take, on random data. Three kinds of steps take
 * turns, so that a machine that slows down slows all of them:
 *
 *   local    forward, backward and update, without communication
 *   wire     a step's communication alone, without loss and BatchNorm statistics
 *   step     all of it, as training does it
 *
 * The CPU time of `wire` is measured in steps of its own; ranks mostly sleep between polls then. */
#ifndef DDP_BENCH_BENCH_H
#define DDP_BENCH_BENCH_H

#include "base/status.h"
#include "comm/group.h"
#include "glue/network.h"
#include "trainer/trainer.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A time that was measured in each of `count` steps. */
typedef struct ddp_sample {
    const char *name;    /* name of the time, a short word */
    const char *meaning; /* a phrase that explains the time */
    double *seconds;     /* the time of each step; ascending after ddp_sample_sort */
    size_t count;
} ddp_sample;

/* Sort s->seconds, the least first. */
void ddp_sample_sort(ddp_sample *s);
/* Return quantile q, 0 to 1, of a sorted sample; 0 if it is empty. */
double ddp_sample_quantile(const ddp_sample *s, double q);

/* The network to time, and how. */
typedef struct ddp_bench_config {
    ddp_group *group;
    ddp_trainer *trainer; /* attached to net; the benchmark sets net's learning rate to 0 */
    network *net;
    ddp_network_shape shape;           /* shape of net */
    const char *cfg;                   /* path of the cfg */
    int batches;                       /* batches of one update (-ddp_sync_every), to print */
    int steps;                         /* number of steps of each kind to time, at least 1 */
    const char *devices;               /* name of the devices: "CPU", "GPU NVIDIA H200" */
    int fp32;                          /* 1: GPUs compute without TF32 (-ddp_fp32), to print */
    int bf16;                          /* 1: layers compute in bf16 (-ddp_bf16), to print */
    int exact, deterministic, overlap; /* to print; 1: the option is on */
    const char *wire;   /* format of gradients on the wire, to print; NULL: float32 */
    const char *replay; /* profile by which layers sleep, to print; NULL: they compute */
    int draw;           /* 1: two more steps run, the second is traced; same value on all ranks */
    /* file to write the trace to (core/trace.h); NULL if draw is 0, and on ranks other than 0 */
    FILE *trace;
} ddp_bench_config;

/* The result of ddp_bench_run. Print it on rank 0. */
typedef struct ddp_bench_result {
    const ddp_bench_config *config;
    const char *transport;
    const char *precision; /* precision of convolutions: "fp32", "TF32" or "bf16" */
    int on_host;           /* 1: the steps were computed on CPUs */
    int ranks;
    int batch;          /* images of an update, on all ranks together */
    double gradient_mb; /* size of the gradients in MB */
    double summed_mb; /* MB of floats that ranks sum in a step, 4 bytes each; less if compressed */
    size_t buckets;   /* number of buckets */
    /* buckets of the traced step that were summed before backward ended; without a trace 0 */
    size_t hidden;
    ddp_sample *samples;
    size_t sample_count;
    int counted;          /* 1: messages and inter_host_mb are known; 0: NCCL does not tell them */
    uint64_t messages;    /* messages that the sums of a step send, on the rank that sends most */
    double inter_host_mb; /* MB that leave a host in a step, for the host that sends most */
    double cpu_s;         /* mean CPU seconds of a step's communication, on this rank */
    double limit_s; /* least seconds that a step can take: the larger of communication alone and
                       local_s (on CPUs local_s + cpu_s) */
    double step_s;  /* median seconds of a step with communication */
    double local_s; /* median seconds of a step without communication */
} ddp_bench_result;

/* Time config->steps steps of each kind, and set *out; release it, also after a failure. config and
 * its group must outlive *out. Collective. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_bench_run(ddp_bench_result *out, const ddp_bench_config *config,
                         ddp_error *err) DDP_MUST_CHECK;
/* Free the samples of *r. */
void ddp_bench_release(ddp_bench_result *r);

/* Print the result as a text for people. */
void ddp_bench_print(FILE *out, const ddp_bench_result *r);
/* Print the result as JSON. */
void ddp_bench_print_json(FILE *out, const ddp_bench_result *r);

#endif
